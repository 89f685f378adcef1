import { Annotation, START, StateGraph } from '@langchain/langgraph';

async function build() {
  await new Promise((resolve) => setImmediate(resolve));
  const State = Annotation.Root({ n: Annotation<number>() });
  return new StateGraph(State).addNode('add', (state) => ({ n: state.n + 1 })).addEdge(START, 'add');
}

/** A promise of a builder that nobody has compiled. */
export const graph = build();
