import { Annotation, Command, Send, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  topic: Annotation<string>(),
  subjects: Annotation<string[]>(),
  jokes: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  best: Annotation<string>(),
});

export const graph = new StateGraph(State)
  .addNode('plan', (state) => ({ subjects: [`${state.topic} a`, `${state.topic} b`, `${state.topic} c`] }))
  .addNode('joke', (state: { subject: string }) => ({ jokes: [`why ${state.subject}?`] }))
  .addNode('judge', (state) => new Command({ update: { best: state.jokes[1] }, goto: 'publish' }), {
    ends: ['publish'],
  })
  .addNode('publish', (state) => ({ topic: `${state.topic} (published)` }))
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', (state) => state.subjects.map((subject) => new Send('joke', { subject })), [
    'joke',
  ])
  .addEdge('joke', 'judge')
  .compile();
