/**
 * Serves a project under development. A changed graph file reloads the graphs. A change of files that the server
 * loaded (auth, `http.app`, embeddings, configuration, env file) restarts the server in this process: runs are
 * requeued, and clients resume streams by frame id. Load errors are reported and retried at the next file change.
 */
import { basename, dirname } from 'node:path';
import { ConfigError, type Config } from './config/config.ts';
import { watchFiles } from './file-watch.ts';
import { forgetModules } from './graphs/modules/hooks.ts';
import { listenForFiles } from './graphs/modules/loaded-files.ts';
import { openReloadingGraphs, type ReloadingGraphs } from './workers/reload.ts';
import { systemClock } from './kernel/clock.ts';
import { codeFrame } from './observe/text.ts';
import type { RunningServer, ServeOptions } from './running-server.ts';
import { startServer } from './serve.ts';

/** Limits how long a graph that ignores its signal delays a restart. */
const MAX_RESTART_GRACE_MS = 300;

const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;

export interface WatchingOptions {
  /** Reads configuration and env file anew. Throws `ConfigError`. */
  readonly load: () => Config;
  readonly serve: ServeOptions;
  /** Prints changes and problems for the developer. */
  readonly say: (text: string) => void;
}

export type WatchingServer = Pick<RunningServer, 'url' | 'graphIds' | 'stop'>;

/** Resolves when the project is first served. */
export async function serveWatching({ load, serve, say }: WatchingOptions): Promise<WatchingServer> {
  const clock = systemClock();
  const graphFiles = new Set<string>();
  const serverFiles = new Set<string>();
  let server: RunningServer | undefined;
  let graphs: ReloadingGraphs | undefined;
  let applied: readonly string[] = [];
  let stopped = false;
  let chain: Promise<void> = Promise.resolve();
  let onServing: () => void = () => undefined;
  const serving = new Promise<void>((resolve) => (onServing = resolve));

  const watch = watchFiles({
    clock,
    onChange(files) {
      chain = chain
        .then(() => (stopped ? undefined : applyChanges(files)))
        .catch((error: unknown) => serve.onFault(error, 'taking over a change'));
    },
  });
  const noteIn = (files: Set<string>) => (file: string) => {
    files.add(file);
    watch.add(file);
  };
  const noteServerFile = noteIn(serverFiles);
  const noteGraphFile = noteIn(graphFiles);

  const report = (problems: readonly string[]): void => {
    for (const problem of problems) say(problem);
  };
  const reportBroken = (): void =>
    report(
      (graphs?.broken ?? []).map(
        ({ graphId, file, reason }) => `graph "${graphId}" (${file}): ${withCode(reason)}`,
      ),
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
        openGraphs: async (options) => {
          graphs = await openReloadingGraphs({ ...options, onFile: noteGraphFile });
          return graphs;
        },
      },
    );
    server = started;
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
    // While something fails to load, any changed source file triggers a retry: a missing module has no path to watch.
    const isBroken = server === undefined || (graphs?.broken.length ?? 0) > 0;
    const changed = [...files].filter(
      (file) => serverFiles.has(file) || graphFiles.has(file) || (isBroken && SOURCE.test(file)),
    );
    if (changed.length === 0) return;
    const names = changed.map((file) => basename(file)).join(', ');
    if (server === undefined || changed.some((file) => serverFiles.has(file))) return restart(names);
    const began = clock.monotonic();
    await graphs?.reload();
    say(`${names} changed: graphs reloaded in ${Math.round(clock.monotonic() - began)} ms`);
    reportBroken();
  }

  try {
    const config = load();
    process.chdir(dirname(config.configFile));
    listenForFiles(noteServerFile);
    try {
      await start(config);
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
    async stop() {
      stopped = true;
      watch.close();
      await chain;
      await server?.stop();
    },
  };
}

const NOT_SERVED = 'Nothing is served until this is mended; the next change of a file is tried at once.';

/** Appends source lines around the position in the message, unless it already has some. */
function withCode(reason: string): string {
  const [, file, line, column] = /(\/[^:\n]+):(\d+):(\d+)/.exec(reason) ?? [];
  if (file === undefined || reason.includes('\n')) return reason;
  return [reason, ...codeFrame({ file, line: Number(line), column: Number(column) })].join('\n');
}
