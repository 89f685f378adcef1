/** Collects what the operator sees of the server. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { understood } from '../config/understood.ts';
import { problemText } from '../graphs/loader.ts';
import type { Operation } from '../http/system/operation.ts';
import type { ReloadingGraphs } from '../workers/reload.ts';
import type { Assembly } from './assembly.ts';

export function openOperation({ config, graphs, clock, options, warnings }: Assembly): Operation {
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
    logBytes: () => sizeOf(config.dataDir),
  };
}

/** Bytes of the files in the data folder. */
async function sizeOf(folder: string): Promise<number> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = files.map(({ name }) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      // The file is gone by now.
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
