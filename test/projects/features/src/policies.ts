import { Annotation, START, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ tries: Annotation<number>(), seen: Annotation<unknown>() });

const tries = new Map<string, number>();

export const graph = new StateGraph(State)
  .addNode(
    'flaky',
    (_state, { configurable }: LangGraphRunnableConfig) => {
      const thread = String(configurable?.thread_id);
      const count = (tries.get(thread) ?? 0) + 1;
      tries.set(thread, count);
      if (count < 3) throw new Error('not yet');
      return { tries: count };
    },
    { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } },
  )
  .addNode('look', (_state, config: LangGraphRunnableConfig) => ({
    seen: {
      tags: config.tags,
      own: config.metadata?.own,
      step: config.metadata?.langgraph_step,
      context: config.context ?? null,
      hasStore: config.store !== undefined,
      hasSignal: config.signal !== undefined,
    },
  }))
  .addEdge(START, 'flaky')
  .addEdge('flaky', 'look')
  .compile()
  .withConfig({ tags: ['mine'], metadata: { own: 'yes' }, recursionLimit: 7 });
