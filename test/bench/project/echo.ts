import { AIMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** One node that answers `echo: <last message>`. */
export const builder = new StateGraph(MessagesAnnotation)
  .addNode('answer', (state) => ({
    messages: [new AIMessage(`echo: ${String(state.messages.at(-1)?.content)}`)],
  }))
  .addEdge(START, 'answer')
  .addEdge('answer', END);

export const graph = builder.compile();

export const plain = (state: { messages: { content: string }[] }) => ({
  messages: [{ role: 'assistant', content: `echo: ${state.messages.at(-1)?.content ?? ''}` }],
});
