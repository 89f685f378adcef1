import { setTimeout as pause } from 'node:timers/promises';
import { AIMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Answers after a second. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async () => {
    await pause(1_000);
    return { messages: [new AIMessage('a second later')] };
  })
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile();
