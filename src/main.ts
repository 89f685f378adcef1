/** Commands of the process; the only reader of arguments and signals. */
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { addressOf, ConfigError, type Config } from './config/config.ts';
import { loadConfig } from './config/load.ts';
import { systemClock } from './kernel/clock.ts';
import { tendIdleMemory } from './kernel/idle-memory.ts';
import { publishAddress } from './kernel/server-address.ts';
import { placeText, stackOf, userPlaceOf } from './kernel/stack.ts';
import { DiskFailed } from './log/disk.ts';
import { createLogger, entriesTo } from './logger.ts';
import type { ServeOptions } from './running-server.ts';

/**
 * Exit codes beyond 0: a wrong call or configuration, and a disk that takes nothing, or left the outcome of the last
 * commit unknown.
 */
const EXIT_USAGE = 2;
const EXIT_POISONED = 70;
/** Long enough for the replies that say so, short enough to be as good as at once. */
const POISONED_GRACE_MS = 800;

/** A terminal signals npm and the server, and npm passes it on: what follows so soon is the same request. */
const SAME_MS = 1_000;
/** How long the end of the process waits for threads that native code holds. */
const HELD_MS = 10_000;
/** And for whoever reads its log, and may have stopped to. */
const LOGGED_MS = 2_000;
/** And for a start that is under way: nobody was promised anything yet that is not in the log. */
const START_MS = 5_000;

const USAGE = `Usage: npm start -- [--config FILE] [--host HOST] [--port PORT] [--data DIR]
       npm run dev -- (the same; takes over changes of the project's files)
       npm run replay -- --data DIR [--thread ID [--to POSITION]] [--cron ID] [--json] [--verify]
Environment: PLATFORM_CONFIG, PLATFORM_HOST, PLATFORM_PORT, PLATFORM_DATA mean the same.`;

/** `isWatching`: a change of the project's files is taken over at once. */
async function serve(args: string[], { isWatching }: { readonly isWatching: boolean }): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      config: { type: 'string' },
      host: { type: 'string' },
      port: { type: 'string' },
      data: { type: 'string' },
    },
  });
  const given = { env: { ...process.env }, cwd: process.cwd() };
  const load = (): Config => loadConfig(values, given.env, given.cwd);
  const config = load();
  Object.assign(process.env, config.env);
  // Graph code finds files of its project by relative paths, and graph workers cannot change their directory.
  process.chdir(dirname(config.configFile));
  // Graph workers copy the environment when they start; a free port is known only once it is taken.
  if (config.port !== 0) publishAddress(process.env, addressOf(config));
  const log = isWatching ? { ...config.log, json: config.log.json ?? false } : config.log;
  const logger = createLogger(log, { isTerminal: process.stderr.isTTY === true, codeFrames: isWatching });
  if (!isWatching) for (const warning of config.warnings) logger.warn(warning);

  // Faults of graph code that no promise chain of ours sees must not take the other runs down with them. Listened for
  // before the start, like the signals: recovered runs execute before the first request is taken.
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'uncaught exception'));
  // Imported here: `replay` must not even have the server's effects in its process (R1).
  const { startServer } = await import('./serve.ts');
  const { serveWatching } = await import('./dev.ts');
  // A module of the project that waits for ever, or ends the process, would end it without a word.
  let started = false;
  process.on('exit', (code) => {
    if (started || process.exitCode === EXIT_POISONED) return;
    console.error(
      'The process ended while it started: a module of the project never finished loading, or ended it.',
    );
    if (code === 0) process.exitCode = EXIT_USAGE;
  });
  const clock = systemClock();
  let held: Promise<unknown> | undefined;
  const options: ServeOptions = {
    onFault(error, context) {
      const place = userPlaceOf(stackOf(error) ?? '');
      logger.error({ err: error, context, ...(place && { at: placeText(place) }) }, 'fault');
    },
    onWarning: (text) => logger.warn(text),
    onEntry: entriesTo(logger),
    logsRequests: logger.isLevelEnabled('debug'),
    onHeld: (gone) => (held = gone),
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
    ? serveWatching({ load, serve: options, say: (text) => console.log(text) })
    : startServer(config, options);

  function endBy(signal: NodeJS.Signals): void {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  let asked: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (asked !== undefined) {
      // Whoever asks again does not want to wait, for threads neither; what was acknowledged is in the log already.
      if (clock.monotonic() - asked > SAME_MS) endBy(signal);
      return;
    }
    asked = clock.monotonic();
    console.log(`${signal}: stopping`);
    if (!started) clock.after(START_MS, () => started || endBy(signal));
    starting
      .then((server) => server.stop())
      .then(
        // Not what graph code may have set.
        () => leave(process.exitCode === EXIT_POISONED ? EXIT_POISONED : 0, signal),
        (error: unknown) => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(process.exitCode ?? 1);
        },
      );
  };
  /** Node waits at its exit for every thread and every line of the log; what the signal does by itself waits for none. */
  function leave(code: number, signal: NodeJS.Signals): void {
    const logged = new Promise((resolve) => logger.flush(resolve));
    void Promise.all([held, logged]).then(() => process.exit(code));
    clock.after(held === undefined ? LOGGED_MS : HELD_MS, () => endBy(signal));
  }
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  const server = await starting.finally(() => (started = true));
  publishAddress(process.env, server.url);
  tendIdleMemory({ clock });
  console.log(`Serving on    ${server.url}
Graphs        ${server.graphIds.join(', ')}
Docs          ${server.url}/docs
Data          ${config.dataDir}/log.db
Try           curl -s ${server.url}/runs/wait -H 'content-type: application/json' \\
                -d '{"assistant_id":"${server.graphIds[0]}","input":{"messages":[{"role":"user","content":"hello"}]}}'`);
  if (isWatching)
    console.log(`Watching      ${dirname(config.configFile)}: a saved file is taken over; Ctrl+C stops`);
}

async function main([command, ...args]: string[]): Promise<void> {
  if (command === 'serve' || command === 'dev') return serve(args, { isWatching: command === 'dev' });
  if (command === 'replay') {
    const { runReplay } = await import('./replay/command.ts');
    process.exitCode = await runReplay(args, process.env, (line) => console.log(line));
    return;
  }
  throw new ConfigError([USAGE]);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof ConfigError) for (const problem of error.problems) console.error(problem);
  else console.error(error instanceof Error ? error.message : error);
  process.exit(process.exitCode ?? (error instanceof DiskFailed ? EXIT_POISONED : EXIT_USAGE));
});
