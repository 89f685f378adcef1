import { entrypoint, task } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ask, instead, isChange, keep, look, model } from './parts.ts';

export const react = createReactAgent({ llm: model, tools: [look, keep], prompt: 'You look.' });

const half = task('half', async (n: number, asked: string) => {
  if (isChange(asked, 'thrown in a task') && n === 2) throw new Error('planted');
  const text = await ask(`n=${instead(asked, 'request of a task', n, n + 10)}&delay=5`);
  return instead(asked, 'result of a task', [n, text, Date.now()], [n, text]);
});

export const functional = entrypoint(
  'functional',
  async ({ messages }: { messages: { content: string }[] }, config: any) => {
    const asked = messages[0]!.content;
    const numbers = isChange(asked, 'missing task') ? [1, 2] : [1, 2, 3];
    if (isChange(asked, 'additional task')) numbers.push(4);
    const halves = await Promise.all(numbers.map((n) => half(n, asked)));
    config.writer?.({ count: instead(asked, 'frame of a function', halves.length, 0) });
    return { halves: instead(asked, 'end of a function', halves, halves.toReversed()) };
  },
);
