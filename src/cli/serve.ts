/** The `serve` command: starts the server, prints its address, and stops it on a signal. */
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { addressOf } from '../config/config.ts';
import { loadConfig, readConfig } from '../config/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { tendIdleMemory } from '../kernel/idle-memory.ts';
import { openFilesProblem } from '../kernel/open-files.ts';
import { PRODUCT } from '../kernel/product.ts';
import { publishAddress } from '../kernel/server-address.ts';
import { placeText, stackOf, userPlaceOf } from '../kernel/stack.ts';
import { createLogger, entriesTo } from '../logger.ts';
import type { ServeOptions } from '../running-server.ts';
import { enterProject } from './enter-project.ts';
import { EXIT_POISONED, EXIT_USAGE } from './exit-codes.ts';
import type { Finish, Host } from './host.ts';
import { withServerOptions, type ServerOptions } from './server-options.ts';

/** Time to send error replies after the log has failed. */
const POISONED_GRACE_MS = 800;

/** A terminal signals npm and the server, and npm forwards its signal: a repetition within this time is ignored. */
const DUPLICATE_SIGNAL_MS = 1_000;
/** Longest wait at exit for the reader of the log output, which may have stopped reading. */
const MAX_FLUSH_MS = 2_000;
/** Longest wait of a stop for a start in progress; acknowledged commits are in the log already. */
const MAX_START_MS = 5_000;

export const addServe = (program: Command, host: Host, finish: Finish): Command =>
  withServerOptions(program.command('serve'))
    .summary('serve the graphs of a project')
    .description('Serves the graphs of a project.')
    .addHelpText(
      'after',
      `\nExamples:\n  ${PRODUCT} serve\n  ${PRODUCT} serve --config my-project --port 8080 --data /var/lib/my-project`,
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
  { isWatching }: { readonly isWatching: boolean },
): Promise<void> {
  const given = { env: { ...host.env }, cwd: host.cwd };
  const { config, problems: found } = readConfig(options, given.env, given.cwd);
  const filesProblem = openFilesProblem();
  const problems = filesProblem === undefined ? found : [filesProblem, ...found];
  enterProject(config, host.env);
  // Graph workers copy the environment at start; port 0 is resolved only after listening.
  if (config.port !== 0) publishAddress(host.env, addressOf(config));
  const log = isWatching ? { ...config.log, json: config.log.json ?? false } : config.log;
  const logger = createLogger(log, { isTerminal: process.stderr.isTTY === true, codeFrames: isWatching });
  if (!isWatching) for (const warning of config.warnings) logger.warn(warning);

  // An unhandled fault of graph code must not end other runs. The listeners precede the start, because recovered runs
  // execute before the first request.
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'uncaught exception'));
  // Imported dynamically, because the process of `replay` must not load effects (R1).
  const { startServer } = await import('../serve.ts');
  const { serveWatching } = await import('../dev.ts');
  // A project module that hangs or exits while loading would end the process without output.
  let started = false;
  process.on('exit', (code) => {
    if (started || process.exitCode === EXIT_POISONED) return;
    host.printError(
      'The process ended while it started: a module of the project never finished loading, or ended it.',
    );
    if (code === 0) process.exitCode = EXIT_USAGE;
  });
  const clock = systemClock();
  const serving: ServeOptions = {
    problems,
    onFault(error, context) {
      const place = userPlaceOf(stackOf(error) ?? '');
      logger.error({ err: error, context, ...(place && { at: placeText(place) }) }, 'fault');
    },
    onWarning: (text) => logger.warn(text),
    onEntry: entriesTo(logger),
    logsRequests: logger.isLevelEnabled('debug'),
    onPoisoned: (cause) => {
      process.exitCode = EXIT_POISONED;
      logger.fatal(
        { cause, dir: config.dataDir },
        'the log failed: the last commit is of unknown outcome, a restart decides',
      );
      clock.after(POISONED_GRACE_MS, () => exit(EXIT_POISONED, 'SIGTERM'));
    },
  };
  const starting = isWatching
    ? serveWatching({
        load: () => loadConfig(options, given.env, given.cwd),
        serve: serving,
        say: host.print,
      })
    : startServer(config, serving);

  let stopRequestedAt: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopRequestedAt !== undefined) {
      // A second signal ends the process at once; acknowledged commits are in the log already.
      if (clock.monotonic() - stopRequestedAt > DUPLICATE_SIGNAL_MS) host.endBy(signal);
      return;
    }
    stopRequestedAt = clock.monotonic();
    host.print(`${signal}: stopping`);
    if (!started) clock.after(MAX_START_MS, () => started || host.endBy(signal));
    starting
      .then((server) => server.stop())
      .then(
        // Overrides an exit code that graph code may have set.
        () => exit(process.exitCode === EXIT_POISONED ? EXIT_POISONED : 0, signal),
        (error: unknown) => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(process.exitCode ?? 1);
        },
      );
  };
  /** `process.exit` waits until the log output is flushed; ending by a signal does not. */
  function exit(code: number, signal: NodeJS.Signals): void {
    const logged = new Promise((resolve) => logger.flush(resolve));
    void logged.then(() => process.exit(code));
    clock.after(MAX_FLUSH_MS, () => host.endBy(signal));
  }
  host.onStopSignal(stop);

  const server = await starting.finally(() => (started = true));
  publishAddress(host.env, server.url);
  tendIdleMemory({ clock });
  host.print(`Serving on    ${server.url}
Graphs        ${server.graphIds.join(', ')}
Docs          ${server.url}/docs
Data          ${config.dataDir}/log.db
Try           curl -s ${server.url}/runs/wait -H 'content-type: application/json' \\
                -d '{"assistant_id":"${server.graphIds[0]}","input":{"messages":[{"role":"user","content":"hello"}]}}'`);
  if (isWatching)
    host.print(`Watching      ${dirname(config.configFile)}: a saved file is taken over; Ctrl+C stops`);
}
