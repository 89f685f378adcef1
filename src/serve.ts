/** The composition root: graphs load in a worker while this process loads the rest, which `wiring.ts` connects. */
import { join } from 'node:path';
import { addressOf, type Config } from './config/config.ts';
import { createPermits } from './effects/permits.ts';
import { openGraphs } from './workers/open-graphs.ts';
import { publishInProcess } from './http/in-process-client.ts';
import { releaseWhileWaiting } from './http/permit-fetch.ts';
import { createFollowingClock, systemClock } from './kernel/clock.ts';
import { randomIds } from './kernel/ids.ts';
import { newToken } from './kernel/tokens.ts';
import { VERSION } from './kernel/product.ts';
import type { RunningServer, ServeOptions } from './running-server.ts';

export type { RunningServer, ServeOptions };

/** Rejects with a `ConfigError` that names every unusable graph or handler, and a port or data folder in use. */
export async function startServer(config: Config, options: ServeOptions): Promise<RunningServer> {
  const { clock = createFollowingClock(systemClock()), onFault, firstWorker: first } = options;
  const ids = { ...randomIds(clock), token: () => newToken() };
  // Precedes the first graph, which may look for it while loading.
  const inProcess = publishInProcess(addressOf(config));
  const permits = createPermits(config.concurrency);
  const { count, memoryMb, loadLimitMs } = config.workers;
  const { envPrefix: secretPrefix } = config.webhooks;
  const token = ids.token();
  const forWorkers = { token, fetch: releaseWhileWaiting(inProcess.fetch, permits) };
  const graphs = (options.openGraphs ?? openGraphs)({
    ...{ graphs: config.graphs, clock, ids, onFault, onEntry: options.onEntry },
    workers: count > 0 ? { workers: count, memoryMb, loadLimitMs, token, secretPrefix, first } : undefined,
    schemaTimeoutMs: config.schemaTimeoutMs,
    // The module's URL differs per build.
    schemaCache: { dir: join(config.dataDir, 'schemas'), version: `${VERSION} ${import.meta.url}` },
  });
  // Prevents an unhandled rejection; `wireServer` awaits the promise.
  graphs.catch(() => undefined);
  const { wireServer } = await import('./wiring.ts');
  return wireServer(config, options, {
    clock,
    ids,
    version: VERSION,
    inProcess,
    forWorkers,
    permits,
    graphs,
  });
}
