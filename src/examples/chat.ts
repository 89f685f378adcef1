/** A LangGraph.js chat agent. It uses a fake streaming model, so it needs no API key; replace it by a real model. */
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { FakeListChatModel } from '@langchain/core/utils/testing';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => {
    const model = new FakeListChatModel({ responses: [`echo: ${messages.at(-1)?.text ?? ''}`], sleep: 5 });
    return { messages: [await model.invoke(messages)] };
  })
  .addEdge('__start__', 'agent')
  .compile();
