import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const add = tool(({ a, b }: { a: number; b: number }) => String(a + b), {
  name: 'add',
  description: 'Adds two numbers.',
  schema: z.object({ a: z.number(), b: z.number() }),
});
const broken = tool(
  () => {
    throw new Error('the tool is broken');
  },
  { name: 'broken', description: 'Never works.', schema: z.object({}) },
);

const llm = new ScriptedModel((messages: any[]) => {
  if (afterTool(messages)) return `The tools say ${lastText(messages, 'tool')}.`;
  if (lastText(messages, 'human').includes('broken'))
    return { content: 'Trying.', calls: [{ name: 'broken' }] };
  return {
    calls: [
      { name: 'add', args: { a: 1, b: 2 } },
      { name: 'add', args: { a: 3, b: 4 } },
    ],
  };
});

export const agent = createReactAgent({ llm: llm as never, tools: [add, broken], prompt: 'You calculate.' });
