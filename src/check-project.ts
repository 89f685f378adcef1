/** Loads a project as a server would, without serving it. */
import { join } from 'node:path';
import { ConfigError, type Config } from './config/config.ts';
import { systemClock } from './kernel/clock.ts';
import { randomIds } from './kernel/ids.ts';
import { VERSION } from './kernel/product.ts';
import { loadProject } from './load-project.ts';
import { openGraphs } from './workers/open-graphs.ts';

export interface CheckedProject {
  readonly graphIds: readonly string[];
  /** Why a server would not start. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export async function checkProject(config: Config): Promise<CheckedProject> {
  const clock = systemClock();
  const ids = randomIds(clock);
  const warnings: string[] = [];
  const { memoryMb, loadLimitMs, count } = config.workers;
  const { envPrefix: secretPrefix } = config.webhooks;
  const opening = openGraphs({
    ...{ graphs: config.graphs, clock, ids },
    workers: count > 0 ? { workers: 1, memoryMb, loadLimitMs, token: ids.token(), secretPrefix } : undefined,
    schemaTimeoutMs: config.schemaTimeoutMs,
    schemaCache: { dir: join(config.dataDir, 'schemas'), version: VERSION },
    onFault: (error, context) => warnings.push(`${context}: ${String(error)}`),
  });
  try {
    // Port 0 is always free: ports are not the question here.
    const { graphs } = await loadProject({ ...config, port: 0 }, opening, [], (text) => warnings.push(text), {
      isStrict: true,
    });
    const { graphIds } = graphs;
    await graphs.close();
    return { graphIds, problems: [], warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { graphIds: [], problems: error.problems, warnings };
  }
}
