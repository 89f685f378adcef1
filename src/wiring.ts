/**
 * Creates and connects all parts of a server in the order in which they may start, and stops them in reverse. Modules
 * keep no global state, so one process can run several servers.
 */
import { networkInterfaces } from 'node:os';
import { openAuth } from './auth/open-auth.ts';
import { createAssistants, ensureSystemAssistants } from './actors/assistants.ts';
import { createCrons } from './actors/crons.ts';
import { createDeliveries } from './actors/deliveries.ts';
import { createEmbedder } from './actors/embedder.ts';
import { createItems } from './actors/items.ts';
import { createStore } from './actors/store.ts';
import { createThreads } from './actors/threads.ts';
import { createThreadMaintenance } from './actors/thread-maintenance.ts';
import { ConfigError, type Config } from './config/config.ts';
import type { UrlPolicy } from './delivery/url-policy.ts';
import { startCrons } from './effects/crons.ts';
import { startExecutor } from './effects/executor.ts';
import { createHttpOut } from './effects/http-out.ts';
import { startItemSweeper } from './effects/item-sweeper.ts';
import { createOwnOut, type OwnFetch } from './effects/own-out.ts';
import type { Permits } from './effects/permits.ts';
import { recoverRuns } from './effects/recovery.ts';
import { startSweeper } from './effects/sweeper.ts';
import { startThreadSweeper } from './effects/thread-sweeper.ts';
import { startWebhooks } from './effects/webhooks.ts';
import { deltaBasesOf } from './graphs/checkpoint-needs.ts';
import { refuseUnmatched } from './graphs/strict-resume.ts';
import type { Graphs } from './workers/open-graphs.ts';
import { loadProject } from './load-project.ts';
import { createApp } from './http/app.ts';
import { createCronStart } from './http/crons/start.ts';
import type { ServerContext } from './http/context.ts';
import { openAbout } from './http/system/about.ts';
import { createEdge } from './http/edge.ts';
import { createInheritance } from './http/header-rules.ts';
import type { InProcessClient } from './http/in-process-client.ts';
import { createMetrics } from './http/system/metrics.ts';
import { createRequestLog } from './http/request-log.ts';
import { createRequestCounts } from './http/system/request-metrics.ts';
import { addressProblem, listen, type HttpServer } from './http/server.ts';
import { limitDelivery, renderDelivery } from './http/webhooks/delivery-body.ts';
import { systemClock, type Clock } from './kernel/clock.ts';
import type { Ids } from './kernel/ids.ts';
import { watchLoopDelay } from './kernel/loop-delay.ts';
import { openActivity } from './observe/activity.ts';
import { storeAt } from './open-store.ts';
import type { RunningServer, ServeOptions } from './running-server.ts';
import { openStreams } from './streams/open-streams.ts';
import { openSockets } from './ws/sockets.ts';

/** Request bodies of maximum size that may be in memory at once. */
const MAX_CONCURRENT_BODIES = 8;
/** Time for a WebSocket client to complete the close handshake. */
const SOCKET_GRACE_MS = 1_000;

/** Parts that `startServer` has created. */
export interface Begun {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  readonly inProcess: InProcessClient;
  /** Serves requests of graph code, which carry the token. */
  readonly forWorkers: { readonly token: string; readonly fetch: typeof fetch };
  readonly permits: Permits;
  /** Graphs that load in a worker process meanwhile. */
  readonly graphs: Promise<Graphs>;
}

/** Rejects like `startServer`, after stopping what had started. */
export async function wireServer(
  config: Config,
  options: ServeOptions,
  begun: Begun,
): Promise<RunningServer> {
  const { onFault, onPoisoned, onEntry = () => undefined } = options;
  const { clock, ids, version, inProcess, forWorkers, permits } = begun;
  const stops: (() => Promise<unknown> | void)[] = [];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.reverse()) await stop();
  };
  stops.push(() => inProcess.close());
  const project = await loadProject(
    config,
    begun.graphs,
    options.problems ?? [],
    options.onWarning ?? (() => undefined),
  ).catch(async (error: unknown) => {
    await stopAll();
    throw error;
  });
  const { graphs, handler, custom, embedTexts } = project;
  stops.push(() => graphs.close());

  try {
    const log = storeAt(config.dataDir).openLog({
      clock,
      onFault: (error) => onFault(error, 'announcing a commit'),
      ...(options.onWarning && { onWarning: options.onWarning }),
    });
    stops.push(() => log.close());
    // Graphs close before the log, because they may still write.
    stops.push(() => graphs.close());
    log.onPoisoned(onPoisoned);
    const activity = openActivity({ log, onEntry, hasUsers: handler !== undefined, onFault });
    stops.push(() => activity.stop());
    const { enabled, payloadFields } = config.webhooks;
    const urlPolicy: UrlPolicy = { ...config.webhooks.url, ownAddresses };
    const render = limitDelivery(renderDelivery, payloadFields);
    const threads = createThreads({ log, clock, ids, webhooks: { enabled, render } });
    const deliveries = createDeliveries({ log, ids });
    const items = createItems({ log, clock, ids });
    const { refreshOnRead, defaultTtl, sweepIntervalMinutes, index } = config.store;
    const embedder = index && embedTexts && createEmbedder({ ...index, embedTexts, clock });
    const store = createStore({ log, items, clock, ttl: { refreshOnRead, defaultTtl }, embedder, onFault });
    if (sweepIntervalMinutes !== null) {
      const sweeper = startItemSweeper({
        log,
        items,
        clock,
        onFault,
        intervalMs: sweepIntervalMinutes * 60_000,
      });
      stops.push(() => sweeper.stop());
    }
    const maintenance = createThreadMaintenance({ log, threads, deltaBasesOf });
    const assistants = createAssistants({ log, ids });
    const { catchUp: mode, catchUpLimit: limit } = config.crons;
    const crons = createCrons({ log, clock, ids, catchUp: { mode, limit } });
    await ensureSystemAssistants(
      assistants,
      [...config.graphs, ...config.unserved],
      config.assistantDefaults,
    );
    activity.recovered(await recoverRuns(log, threads, { maxCharges: config.maxAttempts }));

    const { hub, ...streams } = openStreams(log, clock);
    let ownFetch: OwnFetch | undefined;
    stops.push(() => hub.close());
    if (enabled) {
      const { timeoutMs: deadlineMs } = config.webhooks;
      const reach = { policy: urlPolicy, clock, deadlineMs };
      const out = createOwnOut({ out: createHttpOut(reach), ...reach, fetch: () => ownFetch });
      const webhooks = startWebhooks({ log, clock, ids, out, onFault, settings: config.webhooks });
      stops.push(async () => {
        // New attempts stop first, then those in progress end: none may fail merely because of the stop.
        const stopped = webhooks.stop();
        await out.close();
        await stopped;
      });
    }
    const sweeper = startSweeper({
      ...{ log, threads, deliveries, clock, ids, onFault },
      retentionMs: config.frameRetentionMs,
      isThreadRead: hub.isThreadRead,
      keepDeliveredMs: config.webhooks.keepMs,
    });
    stops.push(() => sweeper.stop());
    const { threadTtl, runTimeoutMs, stopGraceMs, drainMs, shutdownGraceMs } = config;
    const threadSweeper = startThreadSweeper({
      ...{ log, threads, maintenance, clock, onFault },
      intervalMs: threadTtl.sweepIntervalMinutes * 60_000,
      limit: threadTtl.sweepLimit,
    });
    stops.push(() => threadSweeper.stop());
    const executor = startExecutor({
      ...{ log, threads, store, clock, ids, onFault, permits },
      graphs: refuseUnmatched(graphs),
      ...{ runTimeoutMs, stopGraceMs, maxCharges: config.maxAttempts },
      ...{ isRead: hub.isRead, lingerClock: systemClock() },
    });
    stops.push(() => executor.stop(shutdownGraceMs));

    const stopping = new AbortController();
    const loopDelay = watchLoopDelay();
    stops.push(() => loopDelay.stop());
    let server: HttpServer | undefined;
    const requestCounts = createRequestCounts(systemClock());
    const context: ServerContext = {
      log,
      threads,
      assistants,
      crons,
      describer: graphs.describer,
      store,
      maintenance,
      deliveries,
      defaultTtl: config.threadTtl.byDefault ?? undefined,
      graphs,
      ...streams,
      clock,
      ids,
      ...openAuth({
        ...(handler && { handler }),
        ...{ apiKeys: config.apiKeys, studioKeys: config.studioKeys, cache: config.authCache, clock },
        onFault: (error) => onFault(error, 'auth'),
        onWarning: options.onWarning,
      }),
      unserved: new Map(config.unserved.map(({ id, reason }) => [id, reason])),
      asksHandler: handler !== undefined,
      http: config.http,
      inherit: createInheritance(config.http.configurableHeaders),
      requestCounts,
      metrics: createMetrics({
        requests: requestCounts.read,
        ...{ rows: log.rows, clock, loopDelay, readers: hub.readers },
        connections: async () => server?.connections() ?? 0,
      }),
      about: openAbout(log, {
        ...{ version, http: config.http },
        apiKey: config.apiKeys !== undefined && handler === undefined,
        merge: [config.authOpenapi, custom?.openapi].filter((each) => each !== undefined),
      }),
      requestLog: createRequestLog(onEntry, { all: options.logsRequests === true }),
      allowTruncate: config.allowTruncate,
      ...(enabled && { urlPolicy }),
      maxBodyBytes: config.maxBodyBytes,
      bodyBudget: { most: MAX_CONCURRENT_BODIES * config.maxBodyBytes, held: 0 },
      version,
      onFault,
      stopping: stopping.signal,
    };
    const app = createApp(context);
    const { host, port } = config;
    const fetch = createEdge(context, app, custom);
    const sockets = openSockets({ context, fetch, cors: config.http.cors });
    const prepare = sockets.attach;
    const { patience } = config;
    const listening = await listen({
      fetch,
      forWorkers,
      host,
      port,
      clock,
      prepare,
      patience,
      onFault,
    }).catch((error: unknown) => {
      throw new ConfigError([addressProblem(error, host, port)]);
    });
    server = listening;
    ownFetch = fetch;
    inProcess.open(fetch, `${listening.url}${config.http.mountPrefix}`);
    graphs.base(`${listening.url}${config.http.mountPrefix}`);
    stops.push(async () => {
      activity.stopping();
      // The server still answers during the drain, so clients that wait for a run receive its end.
      if (drainMs > 0) await executor.drain(drainMs);
      stopping.abort();
      // Concurrently, because a slow client must not delay the abort of graphs.
      await Promise.all([
        listening.close(shutdownGraceMs),
        sockets.close(Math.min(shutdownGraceMs, SOCKET_GRACE_MS)),
        executor.stop(shutdownGraceMs),
      ]);
    });
    if (!config.http.disabled.has('crons')) {
      const start = createCronStart(context);
      const reactor = startCrons({ log, crons, start, clock, onFault });
      stops.push(() => reactor.stop());
    }

    let stopped: Promise<void> | undefined;
    return {
      url: `${listening.url}${config.http.mountPrefix}`,
      graphIds: graphs.graphIds,
      log,
      threads,
      items,
      app,
      stop: () => (stopped ??= stopAll()),
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
