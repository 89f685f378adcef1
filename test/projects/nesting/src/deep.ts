import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  path: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const leaf = new StateGraph(State)
  .addNode('ask', () => ({ path: [`leaf ${interrupt({ leaf: 'first?' })}`] }))
  .addNode('again', () => ({ path: [`leaf ${interrupt({ leaf: 'second?' })}`] }))
  .addEdge(START, 'ask')
  .addEdge('ask', 'again')
  .compile();

const branch = new StateGraph(State)
  .addNode('into', () => ({ path: ['branch'] }))
  .addNode('leaf', leaf)
  .addEdge(START, 'into')
  .addEdge('into', 'leaf')
  .compile();

export const graph = new StateGraph(State)
  .addNode('start', () => new Command({ goto: 'branch', update: { path: ['root'] } }), { ends: ['branch'] })
  .addNode('branch', branch)
  .addNode('end', (state) => ({ path: [`end ${state.path.length}`] }))
  .addEdge(START, 'start')
  .addEdge('branch', 'end')
  .compile();
