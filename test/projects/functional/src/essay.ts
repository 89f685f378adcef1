import { entrypoint, getPreviousState, interrupt, task } from '@langchain/langgraph';

const write = task('write', async (topic: string) => `an essay about ${topic}`);
const count = task(
  { name: 'count', retry: { maxAttempts: 2 } },
  async (text: string) => text.split(' ').length,
);

export const essay = entrypoint('essay', async (input: { topic: string }) => {
  const before = getPreviousState<{ essays: number }>();
  const text = await write(input.topic);
  const [words, letters] = await Promise.all([count(text), write(`${input.topic} again`)]);
  const review = interrupt({ question: 'good enough?', text });
  return entrypoint.final({
    value: { text, words, letters, review },
    save: { essays: (before?.essays ?? 0) + 1 },
  });
});
