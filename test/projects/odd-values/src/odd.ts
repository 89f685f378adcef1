import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';

const last = () => Annotation<any>();
const State = Annotation.Root({
  date: last(),
  map: last(),
  set: last(),
  missing: last(),
  numbers: last(),
  nested: last(),
  error: last(),
  kinds: last(),
  text: last(),
});

const kindOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);

export const graph = new StateGraph(State)
  .addNode('make', () => ({
    date: new Date(0),
    map: new Map<string, unknown>([
      ['a', 1],
      ['b', new Set([2])],
    ]),
    set: new Set(['x', 'y']),
    missing: undefined,
    numbers: [0, -0.5, 1e21, Number.MAX_SAFE_INTEGER],
    nested: { empty: {}, list: [[], [null]], undefined: undefined, 'with.dot': { $ref: '#' } },
    text: 'é 漢字 😀 "quoted" \\ \n \u0000 </script>',
  }))
  .addNode('ask', () => ({ error: interrupt({ at: new Date(1000), options: new Set([1, 2]) }) }))
  // What nodes get after a restart is what they would get without one.
  .addNode('look', (state) => ({ kinds: [state.map, state.set, state.nested, state.text].map(kindOf) }))
  .addEdge(START, 'make')
  .addEdge('make', 'ask')
  .addEdge('ask', 'look')
  .compile();
