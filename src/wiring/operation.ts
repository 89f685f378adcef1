/** Collects what the operator sees of the server. */
import { understood } from '../config/understood.ts';
import { problemText } from '../graphs/loader.ts';
import type { Operation } from '../http/system/operation.ts';
import type { ReloadingGraphs } from '../workers/reload.ts';
import type { EventLog } from '../store/port/log.ts';
import type { Assembly } from './assembly.ts';

export function openOperation(
  { config, graphs, clock, options, warnings }: Assembly,
  log: EventLog,
): Operation {
  const startedAt = clock.now();
  return {
    startedAt,
    isDevelopment: options.verdicts !== undefined,
    dataDir: config.dataDir,
    concurrency: config.concurrency,
    graphIds: graphs.graphIds,
    workers: () => graphs.workers(),
    problems: () => [
      ...((graphs as Partial<ReloadingGraphs>).broken ?? graphs.problems).map((problem) => ({
        graphId: problem.graphId,
        reason: problemText(problem),
      })),
      ...config.unserved.map(({ id, reason }) => ({ graphId: id, reason })),
    ],
    warnings: () => warnings,
    settings: understood(config),
    log,
  };
}
