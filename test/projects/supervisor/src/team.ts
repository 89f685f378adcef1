import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createSupervisor } from '@langchain/langgraph-supervisor';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const add: any = tool(({ a, b }: { a: number; b: number }) => String(a + b), {
  name: 'add',
  description: 'Adds.',
  schema: z.object({ a: z.number(), b: z.number() }),
});

const worker: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages) && messages.at(-1).name === 'add'
    ? `The sum is ${lastText(messages, 'tool')}.`
    : { calls: [{ name: 'add', args: { a: 2, b: 3 } }] },
);
const math = createReactAgent({ llm: worker, tools: [add], name: 'math_expert', prompt: 'You calculate.' });
const poet = createReactAgent({
  llm: new ScriptedModel(() => 'Roses are red.') as never,
  tools: [],
  name: 'poet',
});

const boss: any = new ScriptedModel((messages: any[]) => {
  const asked = lastText(messages, 'human');
  if (messages.at(-1).getType() !== 'human') return `Finished: ${asked}`;
  return { calls: [{ name: asked.includes('poem') ? 'transfer_to_poet' : 'transfer_to_math_expert' }] };
});

export const app = createSupervisor({ agents: [math, poet], llm: boss, prompt: 'You lead.' }).compile();
