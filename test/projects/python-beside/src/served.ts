import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ n: Annotation<number>() });

export const graph = new StateGraph(State)
  .addNode('add', (state: { n: number }) => ({ n: state.n + 2 }))
  .addEdge(START, 'add')
  .compile();
