/** Graphs of a log that is only read: states come from checkpoints, and nothing is executed. */
import type { Ids } from '../kernel/ids.ts';
import { readRecordedHistory, readRecordedState } from '../graphs/recorded-states.ts';
import type { Graphs } from './open-graphs.ts';

export function openRecordedGraphs(graphIds: readonly string[], ids: Ids): Graphs {
  const none = async (): Promise<never> => {
    throw new Error('the graphs of an exported file are not at hand');
  };
  return {
    ...{ graphIds, problems: [], files: new Set<string>() },
    run: none,
    update: none,
    state: (order, checkpoints) => readRecordedState(order, checkpoints, ids),
    history: (order, checkpoints) => readRecordedHistory(order, checkpoints, ids),
    describer: { drawing: none, schemas: none, subgraphs: none },
    workers: () => [],
    base: () => undefined,
    close: async () => undefined,
  };
}
