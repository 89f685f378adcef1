import type { BaseMessage } from '@langchain/core/messages';
import { END, MessagesZodMeta, START, StateGraph } from '@langchain/langgraph';
import type { Runtime } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { ScriptedModel } from 'scripted-model';
import { z } from 'zod';

const State = z.object({
  messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta as never),
  title: z.string().default('untitled'),
  drafts: z.array(z.string()).default(() => []),
});
const Context = z.object({
  tone: z.enum(['calm', 'loud']).default('calm'),
  signature: z.string().optional(),
});

const model = new ScriptedModel((messages: any[]) => `draft number ${messages.length}`);

export const graph = new StateGraph(State, Context)
  .addNode('draft', async (state, runtime: Runtime<z.infer<typeof Context>>) => {
    const message = await model.invoke([{ role: 'user', content: state.title }]);
    const text =
      runtime.context?.tone === 'loud' ? String(message.content).toUpperCase() : String(message.content);
    return { drafts: [...state.drafts, text], messages: [message] };
  })
  .addNode('sign', (state, runtime: Runtime<z.infer<typeof Context>>) => ({
    title: `${state.title} by ${runtime.context?.signature ?? 'nobody'}`,
  }))
  .addEdge(START, 'draft')
  .addEdge('draft', 'sign')
  .addEdge('sign', END)
  .compile({ name: 'writer' });
