import { existsSync, writeFileSync } from 'node:fs';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Waits for a service that is there at the second visit. */
async function wait() {
  const mark = process.env.PROJECT_MARK;
  if (mark !== undefined && !existsSync(mark)) {
    writeFileSync(mark, 'visited');
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  }
  return { log: ['waited'] };
}

export const graph = new StateGraph(State)
  .addNode('prepare', () => ({ log: ['prepared'] }))
  .addNode('wait', wait)
  .addNode('finish', () => ({ log: ['finished'] }))
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'wait')
  .addEdge('wait', 'finish')
  .compile();
