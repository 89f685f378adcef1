/** Streams as many tokens as its message asks for. */
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { AIMessageChunk } from '@langchain/core/messages';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('write', async ({ messages }) => {
    const count = Number(/\d+/.exec(messages.at(-1)!.text)?.[0] ?? 20);
    const chunks = Array.from({ length: count }, (_, at) => new AIMessageChunk(`w${at} `));
    const model = new FakeStreamingChatModel({ sleep: 1, chunks });
    return { messages: [await model.invoke(messages)] };
  })
  .addEdge('__start__', 'write')
  .compile();
