import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ how: Annotation<string>(), count: Annotation<number>() });

class OutOfStock extends Error {
  override name = 'OutOfStock';
}

export const graph = new StateGraph(State)
  .addNode('increment', (state) => ({ count: (state.count ?? 0) + 1 }))
  .addNode('check', (state) => {
    if (state.how === 'throw') throw new OutOfStock('no apples left');
    if (state.how === 'type') throw new TypeError('apples are no number');
    return {};
  })
  .addEdge(START, 'increment')
  .addEdge('increment', 'check')
  .addConditionalEdges('check', (state) => (state.how === 'loop' ? 'increment' : '__end__'))
  .compile();
