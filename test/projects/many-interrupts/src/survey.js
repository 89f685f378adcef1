import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  answers: Annotation({ reducer: (a, b) => ({ ...a, ...b }), default: () => ({}) }),
  summary: Annotation(),
});

export const graph = new StateGraph(State)
  .addNode('name', () => ({ answers: { name: interrupt({ question: 'your name?' }) } }))
  .addNode('age', () => ({ answers: { age: interrupt({ question: 'your age?' }) } }))
  .addNode('town', () => {
    const first = interrupt({ question: 'your town?' });
    const second = interrupt({ question: `and your street in ${first}?` });
    return { answers: { town: `${second}, ${first}` } };
  })
  .addNode('sum', (state) => ({ summary: JSON.stringify(state.answers) }))
  .addEdge(START, 'name')
  .addEdge(START, 'age')
  .addEdge(START, 'town')
  .addEdge(['name', 'age', 'town'], 'sum')
  .compile();
