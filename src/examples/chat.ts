/** A LangGraph.js chat agent. Its model is a fake that streams, so the example needs no key: put a real one in place. */
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { FakeListChatModel } from '@langchain/core/utils/testing';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => {
    const model = new FakeListChatModel({ responses: [`echo: ${messages.at(-1)?.text ?? ''}`], sleep: 5 });
    return { messages: [await model.invoke(messages)] };
  })
  .addEdge('__start__', 'agent')
  .compile();
