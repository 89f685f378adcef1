/**
 * Creates and connects all parts of a server in the order in which they may start, and stops them in reverse. Modules
 * keep no global state, so one process can run several servers.
 */
import { ensureSystemAssistants } from './actors/assistants.ts';
import { eraseImports } from './actors/broken-imports.ts';
import { ConfigError, type Config } from './config/config.ts';
import { startCrons } from './effects/crons.ts';
import { watchDue } from './effects/due-watch.ts';
import type { OwnFetch } from './effects/own-out.ts';
import { recoverRuns } from './effects/recovery.ts';
import { createApp } from './http/app.ts';
import { createCronStart } from './http/crons/start.ts';
import { createEdge } from './http/edge.ts';
import { addressProblem, listen, type HttpServer } from './http/server.ts';
import { loadProject } from './load-project.ts';
import { openActivity } from './observe/activity.ts';
import type { RunningServer, ServeOptions } from './running-server.ts';
import { LogAway } from './store/port/log-failures.ts';
import { openStreams } from './streams/open-streams.ts';
import { openOpenedFiles } from './wiring/opened.ts';
import type { Assembly, Begun } from './wiring/assembly.ts';
import { startDeliveries, startRuns, startSweepers, urlPolicyOf } from './wiring/reactors.ts';
import { createContext } from './wiring/server-context.ts';
import { openLog, openWritePaths } from './wiring/write-paths.ts';
import { openSockets } from './ws/sockets.ts';

/** Time for a WebSocket client to complete the close handshake. */
const SOCKET_GRACE_MS = 1_000;

/** A store that is away is told of by itself, once: all that looks for it again and again is not. */
const exceptAway =
  (onFault: ServeOptions['onFault']): ServeOptions['onFault'] =>
  (error, context) => {
    if (!(error instanceof LogAway)) onFault(error, context);
  };

/** Rejects like `startServer`, after stopping what had started. */
export async function wireServer(
  config: Config,
  options: ServeOptions,
  { graphs: opening, ...begun }: Begun,
): Promise<RunningServer> {
  const stops: Assembly['stops'] = [() => begun.inProcess.close()];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.reverse()) await stop();
  };
  try {
    const { problems = [] } = options;
    const warnings = [...config.warnings];
    const onWarning = (text: string): void => {
      warnings.push(text);
      options.onWarning?.(text);
    };
    const project = await loadProject(config, opening, problems, onWarning);
    stops.push(() => project.graphs.close());
    const server = await start({
      ...{ ...begun, ...project, config, stops, warnings },
      options: { ...options, onWarning, onFault: exceptAway(options.onFault) },
    });
    let stopped: Promise<void> | undefined;
    return { ...server, stop: () => (stopped ??= stopAll()) };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function start(assembly: Assembly): Promise<Omit<RunningServer, 'stop'>> {
  const { config, clock, ids, graphs, handler, custom, inProcess, forWorkers, stops } = assembly;
  const { onFault, onEntry = () => undefined } = assembly.options;
  const log = await openLog(assembly);
  const activity = openActivity({ log, onEntry, hasUsers: handler !== undefined, onFault });
  stops.push(() => activity.stop());
  const paths = openWritePaths(assembly, log);
  const { threads, assistants, crons, items } = paths;
  const named = [...config.graphs, ...config.unserved];
  await ensureSystemAssistants(assistants, named, config.assistantDefaults);
  activity.recovered(await recoverRuns(log, threads, { maxCharges: config.maxAttempts, ids, onFault }));
  // Their process has died, unless they are of another server; then the sweeper erases them later.
  if (!log.nodes.isShared) await eraseImports(log, ids);

  const streams = openStreams(log, clock);
  const { hub } = streams;
  stops.push(() => hub.close());
  const due = watchDue({ log, clock, onFault });
  stops.push(() => due.stop());
  const urlPolicy = urlPolicyOf(assembly);
  let ownFetch: OwnFetch | undefined;
  if (urlPolicy !== undefined) startDeliveries(assembly, paths, due, urlPolicy, () => ownFetch);
  startSweepers(assembly, paths, hub);
  const executor = startRuns(assembly, paths, due, hub);

  const stopping = new AbortController();
  let server: HttpServer | undefined;
  const connections = async (): Promise<number> => server?.connections() ?? 0;
  const context = createContext(assembly, paths, streams, {
    urlPolicy,
    connections,
    stopping: stopping.signal,
    opened: openOpenedFiles(assembly, stopping.signal),
  });
  const app = createApp(context);
  const fetch = createEdge(context, app, custom);
  const sockets = openSockets({ context, fetch, cors: config.http.cors });
  const { host, port, patience, drainMs, shutdownGraceMs } = config;
  const listening = await listen({
    ...{ fetch, forWorkers, host, port, clock, prepare: sockets.attach, patience, onFault },
  }).catch((error: unknown) => {
    throw new ConfigError([addressProblem(error, host, port)]);
  });
  server = listening;
  ownFetch = fetch;
  const url = `${listening.url}${config.http.mountPrefix}`;
  inProcess.open(fetch, url);
  graphs.base(url);
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
    const reactor = startCrons({ log, crons, start: createCronStart(context), clock, due, onFault });
    stops.push(() => reactor.stop());
  }
  return { url, graphIds: graphs.graphIds, place: log.place, log, threads, items, app };
}
