import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { RunnableConfig } from '@langchain/core/runnables';

const State = Annotation.Root({
  steps: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** The configuration says how many steps the graph has, and whether a person is asked at the end. */
export async function makeGraph(config: RunnableConfig) {
  const { steps = 1, asks = false } = (config.configurable ?? {}) as { steps?: number; asks?: boolean };
  const builder: any = new StateGraph(State);
  let last: string = START;
  for (let i = 1; i <= steps; i += 1) {
    builder.addNode(`step${i}`, () => ({ steps: [`step ${i} of ${steps}`] })).addEdge(last, `step${i}`);
    last = `step${i}`;
  }
  if (asks) builder.addNode('ask', () => ({ steps: [`said ${interrupt('more?')}`] })).addEdge(last, 'ask');
  return builder.compile();
}
