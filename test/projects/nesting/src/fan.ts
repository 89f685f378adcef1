import { Annotation, interrupt, Send, START, StateGraph } from '@langchain/langgraph';

const Item = Annotation.Root({
  item: Annotation<string>(),
  checked: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const check = new StateGraph(Item)
  .addNode('look', ({ item }, config) => {
    config.writer?.({ looking: item });
    return {};
  })
  .addNode('confirm', ({ item }) => ({ checked: [`${item}: ${interrupt({ item })}`] }))
  .addEdge(START, 'look')
  .addEdge('look', 'confirm')
  .compile();

const State = Annotation.Root({
  items: Annotation<string[]>(),
  checked: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

export const graph = new StateGraph(State)
  .addNode('prepare', () => ({}))
  .addNode('check', check)
  .addNode('report', (state) => ({ items: [...state.checked].sort() }))
  .addEdge(START, 'prepare')
  .addConditionalEdges('prepare', ({ items }) => items.map((item) => new Send('check', { item })), ['check'])
  .addEdge('check', 'report')
  .compile();
