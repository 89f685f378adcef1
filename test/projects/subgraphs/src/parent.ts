import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const append = Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] });
const Shared = Annotation.Root({ log: append });
const Remembering = Annotation.Root({ log: append, visits: Annotation<number>() });

/** Without a checkpointer of its own: begins anew at each visit. */
const plain = new StateGraph(Shared)
  .addNode('step', (_state, config: LangGraphRunnableConfig) => {
    config.writer?.({ in: 'plain' });
    return { log: ['plain'] };
  })
  .addNode('ask', () => ({ log: [`answered ${interrupt('plain asks')}`] }))
  .addEdge(START, 'step')
  .addEdge('step', 'ask')
  .compile();

/** Keeps its state between the turns of a conversation. */
const remembering = new StateGraph(Remembering)
  .addNode('visit', (state) => ({
    visits: (state.visits ?? 0) + 1,
    log: [`visit ${(state.visits ?? 0) + 1}`],
  }))
  .addEdge(START, 'visit')
  .compile({ checkpointer: true });

/** Called from within a node. */
const called = new StateGraph(Shared)
  .addNode('inner', () => ({ log: ['called'] }))
  .addEdge(START, 'inner')
  .compile();

export const graph = new StateGraph(Shared)
  .addNode('before', () => ({ log: ['before'] }))
  .addNode('plain', plain)
  .addNode('remembering', remembering)
  .addNode('calling', async (_state, config) => {
    const { log } = await called.invoke({ log: [] }, config);
    return { log };
  })
  .addEdge(START, 'before')
  .addEdge('before', 'plain')
  .addEdge('plain', 'remembering')
  .addEdge('remembering', 'calling')
  .compile();
