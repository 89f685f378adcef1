/** Asks two questions at once. */
import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  topic: Annotation<string>,
  answers: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const ask = (question: string) => () => ({ answers: [`${question} ${String(interrupt(question))}`] });

export const graph = new StateGraph(State)
  .addNode('name', ask('What is your name?'))
  .addNode('colour', ask('Which colour do you like?'))
  .addEdge('__start__', 'name')
  .addEdge('__start__', 'colour')
  .compile();
