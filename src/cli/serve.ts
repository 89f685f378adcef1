/** The `serve` command: starts the server, prints its address, and stops it on a signal. */
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { addressOf, type Config } from '../config/config.ts';
import { loadConfig, readConfig } from '../config/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { markDevelopment } from '../kernel/development.ts';
import { tendIdleMemory } from '../kernel/idle-memory.ts';
import { openFilesProblem } from '../kernel/open-files.ts';
import { publishAddress } from '../kernel/server-address.ts';
import { placeText, stackOf, userPlaceOf } from '../kernel/stack.ts';
import { createLogger, entriesTo } from '../logger.ts';
import type { RunningServer, ServeOptions } from '../running-server.ts';
import type { WorkerProcess } from '../workers/spawn.ts';
import { enterProject } from './enter-project.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { withServerOptions, type ServerOptions } from './options.ts';
import { openServerExit, type ServerExit } from './server-exit.ts';

export const addServe = (program: Command, host: Host, finish: Finish): Command =>
  withServerOptions(program.command('serve'))
    .summary('serve the graphs of a project')
    .description(
      'Serves the graphs of a project until a signal stops it. Runs that were accepted go on after a restart, also ' +
        'after a crash.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 stopped by a signal, 1 the stop failed, 2 wrong option or configuration, 3 the data directory is damaged or in use, ' +
          '70 the disk failed',
        'serve',
        'serve --config my-project --port 8080 --data /var/lib/my-project',
      ),
    )
    .action(async (options: ServerOptions) => {
      await serve(options, host, { isWatching: false });
      finish(undefined);
    });

/**
 * Resolves when the server answers requests; rejects with all reasons why it cannot start. `isWatching`: file changes
 * of the project are applied at once.
 */
export async function serve(
  options: ServerOptions,
  host: Host,
  { isWatching, isTrying = false }: { readonly isWatching: boolean; readonly isTrying?: boolean },
): Promise<void> {
  const given = { env: { ...host.env }, cwd: host.cwd };
  const { config, problems: found } = readConfig(options, given.env, given.cwd);
  const filesProblem = openFilesProblem();
  const problems = filesProblem === undefined ? found : [filesProblem, ...found];
  enterProject(config, host.env);
  // Graph workers copy the environment at start; port 0 is resolved only after listening.
  if (config.port !== 0) publishAddress(host.env, addressOf(config));
  if (isWatching) markDevelopment(host.env);
  const firstWorker = isWatching ? undefined : await startWorker(config);
  const logger = await openLogger(config, isWatching);
  outliveFaults(logger);
  const clock = systemClock();
  const exit = openServerExit(host, logger, clock);
  const serving = { ...listenersOf(config, logger, exit), problems, firstWorker };
  // Imported dynamically, because the process of `replay` must not load effects (R1), and a start only what it needs.
  const starting = isWatching
    ? import('../dev/dev.ts').then(({ serveWatching }) =>
        serveWatching({
          load: () => loadConfig(options, given.env, given.cwd),
          serve: serving,
          say: host.print,
          isTrying,
        }),
      )
    : import('../serve.ts').then(({ startServer }) => startServer(config, serving));
  exit.onSignals(starting);

  const server = await starting.finally(exit.started);
  publishAddress(host.env, server.url);
  tendIdleMemory({ clock });
  announce(host, config, server);
  if ('isRecording' in server) host.print(`Recording     ${recordingText(server.isRecording, isTrying)}`);
  if (isWatching)
    host.print(`Watching      ${dirname(config.configFile)}: a saved file is taken over; Ctrl+C stops`);
}

/** Starts the first graph worker ahead: it takes longer to load the graphs than this process to load the rest. */
async function startWorker({ workers, webhooks }: Config): Promise<WorkerProcess | undefined> {
  if (workers.count === 0) return undefined;
  const { spawnWorker } = await import('../workers/spawn.ts');
  return spawnWorker(webhooks.envPrefix, workers.memoryMb, systemClock());
}

const recordingText = (isRecording: boolean, isTrying: boolean): string =>
  !isRecording
    ? 'off: saves are not tried against earlier runs'
    : isTrying
      ? 'on: each save is tried against the last run of its graphs (--no-rerun turns that off)'
      : 'on';

export async function openLogger(config: Config, isWatching: boolean): Promise<Logger> {
  const log = isWatching ? { ...config.log, json: config.log.json ?? false } : config.log;
  const logger = await createLogger(log, {
    isTerminal: process.stderr.isTTY === true,
    isDevelopment: isWatching,
  });
  if (!isWatching) for (const warning of config.warnings) logger.warn(warning);
  return logger;
}

/**
 * An unhandled fault of graph code must not end other runs. Call it before the start, because recovered runs execute
 * before the first request.
 */
function outliveFaults(logger: Logger): void {
  process.on('unhandledRejection', (error) => logFault(logger, 'unhandled rejection', error));
  process.on('uncaughtException', (error) => logFault(logger, 'uncaught exception', error));
}

/** The process has no descriptor left. No line of code is to blame, so the entry has no stack. */
const OUT_OF_FILES = /\bE[MN]FILE\b/;

function logFault(logger: Logger, message: string, error: unknown, members: object = {}): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (OUT_OF_FILES.test(reason))
    logger.error(
      { context: message, ...members },
      `too many open files: ${reason} (raise the limit of the process, ulimit -n)`,
    );
  else logger.error({ err: error, ...members }, message);
}

export const listenersOf = (config: Config, logger: Logger, exit: ServerExit): ServeOptions => ({
  onFault(error, context) {
    const place = userPlaceOf(stackOf(error) ?? '');
    logFault(logger, 'fault', error, { context, ...(place && { at: placeText(place) }) });
  },
  onWarning: (text) => logger.warn(text),
  onEntry: entriesTo(logger),
  logsRequests: logger.isLevelEnabled('debug'),
  onPoisoned(cause) {
    logger.fatal(
      { cause, dir: config.dataDir },
      'the log failed: the last commit is of unknown outcome, a restart decides',
    );
    exit.onPoisoned();
  },
});

const announce = (
  host: Host,
  config: Config,
  { url, graphIds, place }: Pick<RunningServer, 'url' | 'graphIds' | 'place'>,
): void =>
  host.print(`Serving on    ${url}
Graphs        ${graphIds.join(', ')}
${config.http.disabled.has('studio') ? '' : `Studio        ${url}/studio\n`}Docs          ${url}/docs
Data          ${place}
Try           curl -s ${url}/runs/wait -H 'content-type: application/json' \\
                -d '{"assistant_id":"${graphIds[0]}","input":{"messages":[{"role":"user","content":"hello"}]}}'`);
