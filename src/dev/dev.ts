/**
 * Serves a project under development. A changed graph file reloads the graphs. A change of files that the server
 * loaded (auth, `http.app`, embeddings, configuration, env file) restarts the server in this process: runs are
 * requeued, and clients resume streams by frame id. Load errors are reported and retried at the next file change.
 */
import { basename, dirname } from 'node:path';
import { ConfigError, logAddressOf, type Config } from '../config/config.ts';
import { watchFiles } from '../file-watch.ts';
import { problemText } from '../graphs/loader.ts';
import { forgetModules } from '../graphs/modules/hooks.ts';
import { listenForFiles, type OnFile } from '../graphs/modules/loaded-files.ts';
import { openReloadingGraphs, type ReloadingGraphs } from '../workers/reload.ts';
import { systemClock } from '../kernel/clock.ts';
import { codeFrame } from '../kernel/code-frame.ts';
import type { RunningServer, ServeOptions } from '../running-server.ts';
import { startServer } from '../serve.ts';
import { storeAt } from '../open-store.ts';
import { openImporters } from './importers.ts';
import { openTrials } from './trials.ts';
import { toJson } from './verdict.ts';

/** Limits how long a graph that ignores its signal delays a restart. */
const MAX_RESTART_GRACE_MS = 300;

const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;

export interface WatchingOptions {
  /** Reads configuration and env file anew. Throws `ConfigError`. */
  readonly load: () => Config;
  readonly serve: ServeOptions;
  /** Prints changes and problems for the developer. */
  readonly say: (text: string) => void;
  /** Tries each save against earlier runs. */
  readonly isTrying: boolean;
}

export interface WatchingServer extends Pick<RunningServer, 'url' | 'graphIds' | 'place' | 'stop'> {
  /** Runs are recorded whose config does not say otherwise, so that saves can be tried against them. */
  readonly isRecording: boolean;
}

/** Resolves when the project is first served. */
export async function serveWatching({
  load: read,
  serve,
  say,
  isTrying,
}: WatchingOptions): Promise<WatchingServer> {
  const clock = systemClock();
  const graphFiles = new Set<string>();
  const serverFiles = new Set<string>();
  const importers = openImporters();
  let server: RunningServer | undefined;
  let served: Config | undefined;
  let graphs: ReloadingGraphs | undefined;
  let applied: readonly string[] = [];
  let stopped = false;
  let chain: Promise<void> = Promise.resolve();
  let onServing: () => void = () => undefined;
  const serving = new Promise<void>((resolve) => (onServing = resolve));

  const watch = watchFiles({
    clock,
    accept(file) {
      // While something fails to load, any changed source file triggers a retry: a missing module has no path to watch.
      const isBroken = server === undefined || (graphs?.broken.length ?? 0) > 0;
      if (!serverFiles.has(file) && !graphFiles.has(file) && !(isBroken && SOURCE.test(file))) return false;
      if (!serverFiles.has(file)) graphs?.expectReload();
      return true;
    },
    onChange: (files) => inTurn(() => applyChanges(files)),
  });
  function inTurn(work: () => Promise<void>): void {
    chain = chain
      .then(() => (stopped ? undefined : work()))
      .catch((error: unknown) => serve.onFault(error, 'taking over a change'));
  }
  function load(): Config {
    const config = read();
    const { byDefault = true } = config.recording;
    return { ...config, recording: { ...config.recording, byDefault } };
  }

  const trials = isTrying
    ? openTrials({
        ...{ clock, say, onFault: serve.onFault },
        place() {
          const { graphs, dataDir, encryptionKeys, workers } = served!;
          const { openPast } = storeAt(logAddressOf(served!), encryptionKeys);
          return { graphs, dataDir, memoryMb: workers.memoryMb, openPast };
        },
      })
    : undefined;

  const noteIn = (files: Set<string>) => (file: string) => {
    files.add(file);
    watch.add(file);
  };
  const noteServerFile = noteIn(serverFiles);
  const addGraphFile = noteIn(graphFiles);
  const noteGraphFile: OnFile = (file, importer) => {
    addGraphFile(file);
    importers.note(file, importer);
  };

  const report = (problems: readonly string[]): void => {
    for (const problem of problems) say(problem);
  };
  const reportBroken = (): void =>
    report(
      (graphs?.broken ?? []).map(({ reason, isRetried, ...graph }) => {
        const text = problemText({ ...graph, reason: withCode(reason) });
        return isRetried === true ? `${text}; its next run tries again` : text;
      }),
    );
  const warned = new Set<string>();
  /** Reports each warning once; restarts find the same ones again. */
  const warn = (text: string): void => {
    if (!warned.has(text)) serve.onWarning?.(text);
    warned.add(text);
  };

  function applyEnv(env: Config['env']): void {
    for (const name of applied) delete process.env[name];
    Object.assign(process.env, env);
    applied = Object.keys(env);
  }

  async function start(config: Config): Promise<void> {
    for (const text of config.warnings) warn(text);
    noteServerFile(config.configFile);
    if (config.envFile !== undefined) noteServerFile(config.envFile);
    for (const { file } of config.graphs) noteGraphFile(file);
    applyEnv(config.env);
    const { port } = new URL(server?.url ?? `http://localhost:${config.port}`);
    await server?.stop();
    server = undefined;
    const started = await startServer(
      {
        ...config,
        ...(config.port === 0 && { port: Number(port) }),
        drainMs: 0,
        shutdownGraceMs: Math.min(config.shutdownGraceMs, MAX_RESTART_GRACE_MS),
      },
      {
        ...serve,
        onWarning: warn,
        verdicts: () => trials?.verdicts().map(toJson) ?? [],
        openGraphs: async (options) => {
          graphs = await openReloadingGraphs({ ...options, onFile: noteGraphFile });
          return graphs;
        },
      },
    );
    server = started;
    served = config;
    trials?.follow(started.log);
    if (stopped) await started.stop();
    reportBroken();
    onServing();
  }

  /** Restarts the server; the old one keeps running if the new configuration is invalid. */
  async function restart(names: string): Promise<void> {
    say(`${names} changed: the server restarts`);
    const began = clock.monotonic();
    try {
      const config = load();
      forgetModules();
      await start(config);
      say(`restarted in ${Math.round(clock.monotonic() - began)} ms`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      report(error.problems);
      say(server === undefined ? NOT_SERVED : 'the server goes on as it was');
    }
  }

  async function applyChanges(files: ReadonlySet<string>): Promise<void> {
    const changed = [...files];
    const ofServer = changed.filter((file) => serverFiles.has(file));
    const before = server;
    if (server === undefined || ofServer.length > 0) await restart(namesOf(changed));
    // After a refused restart the old server takes over what changed of the graphs.
    if (server === before && ofServer.length < changed.length)
      reload(changed.filter((file) => !ofServer.includes(file)));
  }

  /** Does not wait: the next change abandons a load that takes long. */
  function reload(files: readonly string[]): void {
    say(`${namesOf(files)} changed, reloading …`);
    trials?.begin(importers.graphsOf(files, served?.graphs ?? []));
    const began = clock.monotonic();
    const reloading = graphs?.reload().then((isDone) => {
      if (!isDone) return;
      const ms = Math.round(clock.monotonic() - began);
      const failed = (graphs?.broken ?? []).map(({ graphId }) => graphId);
      if (failed.length === 0) {
        say(`graphs reloaded in ${ms} ms`);
        return trials?.tell();
      }
      trials?.abandon();
      say(
        `reload failed after ${ms} ms, runs end with the error until a save mends it: ${failed.join(', ')}`,
      );
      reportBroken();
    });
    reloading?.catch((error: unknown) => serve.onFault(error, 'reloading graphs'));
  }

  try {
    const config = load();
    process.chdir(dirname(config.configFile));
    listenForFiles(noteServerFile);
    try {
      // A change during a slow start is applied after it.
      const starting = start(config);
      chain = starting.catch(() => undefined);
      await starting;
    } catch (error) {
      // If the server loads no project code, no file change can repair the start (a port in use, for example).
      const { auth, http, store } = config;
      const hasCode = auth !== undefined || http.app !== undefined || store.index !== undefined;
      if (!(error instanceof ConfigError) || !hasCode) throw error;
      report(error.problems);
      say(NOT_SERVED);
      await serving;
    }
  } catch (error) {
    watch.close();
    throw error;
  }

  return {
    get url() {
      return server?.url ?? '';
    },
    get graphIds() {
      return server?.graphIds ?? [];
    },
    get place() {
      return server?.place ?? '';
    },
    get isRecording() {
      return served?.recording.byDefault === true;
    },
    async stop() {
      stopped = true;
      watch.close();
      trials?.abandon();
      await chain;
      await server?.stop();
    },
  };
}

const NOT_SERVED = 'Nothing is served until this is mended; the next change of a file is tried at once.';

const namesOf = (files: readonly string[]): string => files.map((file) => basename(file)).join(', ');

/** Appends source lines around the position in the message, unless it already has some. */
function withCode(reason: string): string {
  const [, file, line, column] = /(\/[^:\n]+):(\d+):(\d+)/.exec(reason) ?? [];
  if (file === undefined || reason.includes('\n')) return reason;
  return [reason, ...codeFrame({ file, line: Number(line), column: Number(column) })].join('\n');
}
