/** `serve`: starts the server, prints where it is, and stops it when a signal asks for that. */
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

/** Time for the replies that tell clients of the failed log. */
const POISONED_GRACE_MS = 800;

/** A terminal signals npm and the server, and npm passes its signal on: a second one within this time is the same. */
const SAME_REQUEST_MS = 1_000;
/** The end of the process waits this long for the reader of its log, which may have stopped reading. */
const MAX_FLUSH_MS = 2_000;
/** A stop waits this long for a start that is under way; all that was acknowledged is in the log already. */
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
 * Resolves when the server answers; rejects with every reason why it cannot start. With `isWatching` a change of the
 * project's files is taken over at once.
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
  // Graph workers copy the environment when they start; a free port is known only once it is taken.
  if (config.port !== 0) publishAddress(host.env, addressOf(config));
  const log = isWatching ? { ...config.log, json: config.log.json ?? false } : config.log;
  const logger = createLogger(log, { isTerminal: process.stderr.isTTY === true, codeFrames: isWatching });
  if (!isWatching) for (const warning of config.warnings) logger.warn(warning);

  // A fault of graph code that no promise chain of the server sees must not end the other runs. The listeners come
  // before the start, as those of signals do: recovered runs execute before the first request is taken.
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'uncaught exception'));
  // Imported here: the process of `replay` must not contain the server's effects (R1).
  const { startServer } = await import('../serve.ts');
  const { serveWatching } = await import('../dev.ts');
  // A module of the project that never finishes loading, or ends the process, would end it without output.
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
      clock.after(POISONED_GRACE_MS, () => leave(EXIT_POISONED, 'SIGTERM'));
    },
  };
  const starting = isWatching
    ? serveWatching({
        load: () => loadConfig(options, given.env, given.cwd),
        serve: serving,
        say: host.print,
      })
    : startServer(config, serving);

  let asked: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (asked !== undefined) {
      // A second request ends the process at once; all that was acknowledged is in the log already.
      if (clock.monotonic() - asked > SAME_REQUEST_MS) host.endBy(signal);
      return;
    }
    asked = clock.monotonic();
    host.print(`${signal}: stopping`);
    if (!started) clock.after(MAX_START_MS, () => started || host.endBy(signal));
    starting
      .then((server) => server.stop())
      .then(
        // The exit code of a clean stop is 0, also when graph code has set another one.
        () => leave(process.exitCode === EXIT_POISONED ? EXIT_POISONED : 0, signal),
        (error: unknown) => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(process.exitCode ?? 1);
        },
      );
  };
  /** Node's exit waits for every line of the log; the end by a signal waits for none. */
  function leave(code: number, signal: NodeJS.Signals): void {
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
