import { Annotation, Command, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const team = new StateGraph(State)
  .addNode('lead', () => ({ log: ['lead'] }))
  .addNode('leave', () => new Command({ graph: Command.PARENT, goto: 'outside', update: { log: ['left'] } }))
  .addEdge(START, 'lead')
  .addEdge('lead', 'leave')
  .compile();

export const graph = new StateGraph(State)
  .addNode('team', team, { ends: ['outside'] })
  .addNode('outside', () => ({ log: ['outside'] }))
  .addEdge(START, 'team')
  .compile();
