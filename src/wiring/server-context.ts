/** Collects what the routes of one server need. */
import { join } from 'node:path';
import { findLibraries } from '../graphs/library-versions.ts';
import { openAuth } from '../auth/open-auth.ts';
import type { UrlPolicy } from '../delivery/url-policy.ts';
import { addressOf, logAddressOf } from '../config/config.ts';
import type { ServerContext } from '../http/context.ts';
import type { OpenedFiles } from '../http/studio/opened-files.ts';
import { isLocalName } from '../http/studio/page.ts';
import { createInheritance } from '../http/header-rules.ts';
import { createRequestLog } from '../http/request-log.ts';
import { openCarriage } from '../http/threads/spool.ts';
import { openAbout } from '../http/system/about.ts';
import { createMetrics } from '../http/system/metrics.ts';
import { createRequestCounts } from '../http/system/request-metrics.ts';
import { systemClock } from '../kernel/clock.ts';
import { watchLoopDelay } from '../kernel/loop-delay.ts';
import { storeAt } from '../open-store.ts';
import { foldersOf } from '../config/project-folders.ts';
import type { Streams } from '../streams/open-streams.ts';
import type { Assembly } from './assembly.ts';
import { openOperation } from './operation.ts';
import { openReexecutions } from './reexecutions.ts';
import type { WritePaths } from './write-paths.ts';

/** Request bodies of maximum size that may be in memory at once. */
const MAX_CONCURRENT_BODIES = 8;

export interface Surroundings {
  readonly urlPolicy: UrlPolicy | undefined;
  readonly connections: () => Promise<number>;
  readonly stopping: AbortSignal;
  readonly opened: OpenedFiles;
}

export function createContext(
  assembly: Assembly,
  { items: _, ...paths }: WritePaths,
  { hub, ...streams }: Streams,
  { urlPolicy, connections, stopping, opened }: Surroundings,
): ServerContext {
  const { config, options, clock, ids, version, graphs, handler, custom, stops } = assembly;
  const { onFault, onWarning, onEntry = () => undefined } = options;
  const loopDelay = watchLoopDelay();
  stops.push(() => loopDelay.stop());
  const requestCounts = createRequestCounts(systemClock());
  return {
    ...paths,
    ...streams,
    ...{ clock, ids, version, graphs, requestCounts, onFault, stopping, opened },
    describer: graphs.describer,
    budget: config.budget,
    defaultTtl: config.threadTtl.byDefault ?? undefined,
    ...openAuth({
      ...(handler && { handler }),
      ...{ apiKeys: config.apiKeys, studioKeys: config.studioKeys, cache: config.authCache, clock },
      onFault: (error, asked) => onFault(error, `auth: ${asked}`),
      onWarning,
    }),
    unserved: new Map([
      ...config.unserved.map(({ id, reason }) => [id, reason] as const),
      ...graphs.problems.map(({ graphId, reason }) => [graphId, reason] as const),
    ]),
    asksHandler: handler !== undefined,
    http: config.http,
    inherit: createInheritance(config.http.configurableHeaders),
    metrics: createMetrics({
      requests: requestCounts.read,
      concurrency: config.concurrency,
      ...{ views: paths.log.views, clock, loopDelay, readers: hub.readers, connections },
    }),
    about: openAbout(paths.log, {
      ...{ version, http: config.http },
      apiKey: config.apiKeys !== undefined && handler === undefined,
      merge: [config.authOpenapi, custom?.openapi].filter((each) => each !== undefined),
    }),
    operation: openOperation(assembly, paths.log),
    requestLog: createRequestLog(onEntry, { all: options.logsRequests === true }),
    carriage: openCarriage({
      ...{ ids, folder: join(config.dataDir, 'carried') },
      openSource: (threadId) => storeAt(logAddressOf(config), config.encryptionKeys).openSource(threadId),
      libraries: () => findLibraries(config.graphs.map(({ file }) => file)),
    }),
    verdicts: options.verdicts ?? (() => []),
    isReadOnly: config.isReadOnly ?? false,
    isLoopback: isLocalName(new URL(addressOf(config)).hostname),
    reexecutions: openReexecutions(config, stopping),
    projectFolders: foldersOf(config),
    allowTruncate: config.allowTruncate,
    ...(urlPolicy && { urlPolicy }),
    maxBodyBytes: config.maxBodyBytes,
    bodyBudget: { maxBytes: MAX_CONCURRENT_BODIES * config.maxBodyBytes, heldBytes: 0 },
  };
}
