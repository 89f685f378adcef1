import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const ask = tool(({ what }: { what: string }) => `The person says ${interrupt({ what })}`, {
  name: 'ask',
  description: 'Asks a person.',
  schema: z.object({ what: z.string() }),
});

const clerkModel: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `Noted: ${lastText(messages, 'tool')}`
    : { content: 'I ask.', calls: [{ name: 'ask', args: { what: lastText(messages, 'human') } }] },
);
const clerk = createAgent({ model: clerkModel, tools: [ask], name: 'clerk' });

/** An agent that another agent calls as its tool. */
const delegate = tool(
  async ({ task }: { task: string }) => {
    const { messages } = await clerk.invoke({ messages: [{ role: 'user', content: task }] });
    return String(messages.at(-1)!.content);
  },
  { name: 'delegate', description: 'Asks the clerk.', schema: z.object({ task: z.string() }) },
);
const headModel: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `Done. ${lastText(messages, 'tool')}`
    : { calls: [{ name: 'delegate', args: { task: lastText(messages, 'human') } }] },
);
const head = createAgent({ model: headModel, tools: [delegate], name: 'head' });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('greet', () => ({ messages: [{ role: 'assistant', content: 'Welcome.', id: 'welcome' }] }))
  .addNode('clerk', clerk.graph as any)
  .addNode('head', head.graph as any)
  .addEdge(START, 'greet')
  .addEdge('greet', 'clerk')
  .addEdge('clerk', 'head')
  .compile();
