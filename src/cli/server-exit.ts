/** Ends the process of a server: on signals, after the log has failed, and when a start ends it unnoticed. */
import type { Logger } from 'pino';
import type { Clock } from '../kernel/clock.ts';
import { EXIT_DIFFERENT, EXIT_OK, EXIT_POISONED, EXIT_USAGE } from './exit-codes.ts';
import type { Host } from './host.ts';

/** Time to send error replies after the log has failed. */
const POISONED_GRACE_MS = 800;
/** A terminal signals npm and the server, and npm forwards its signal: a repetition within this time is ignored. */
const DUPLICATE_SIGNAL_MS = 1_000;
/** Longest wait at exit for the reader of the log output, which may have stopped reading. */
const MAX_FLUSH_MS = 2_000;
/** Longest wait of a stop for a start in progress; acknowledged commits are in the log already. */
const MAX_START_MS = 5_000;

interface Stoppable {
  stop(): Promise<void>;
}

export interface ServerExit {
  /** Stops the server on the first signal and ends the process on a later one. Call it once. */
  onSignals(starting: Promise<Stoppable>): void;
  /** L4 Ends the process after the replies that say so. */
  onPoisoned(): void;
  /** Call when the start has ended, well or not. */
  started(): void;
}

export function openServerExit(host: Host, logger: Logger, clock: Clock): ServerExit {
  let hasStarted = false;
  // A project module that hangs or exits while loading would end the process without output.
  process.on('exit', (code) => {
    if (hasStarted || process.exitCode === EXIT_POISONED) return;
    host.printError(
      'The process ended while it started: a module of the project never finished loading, or ended it.',
    );
    if (code === 0) process.exitCode = EXIT_USAGE;
  });

  /** `process.exit` waits until the log output is flushed; ending by a signal does not. */
  function exit(code: number, signal: NodeJS.Signals): void {
    const logged = new Promise((resolve) => logger.flush(resolve));
    void logged.then(() => process.exit(code));
    clock.after(MAX_FLUSH_MS, () => host.endBy(signal));
  }

  function stop(starting: Promise<Stoppable>, signal: NodeJS.Signals): void {
    host.print(`${signal}: stopping`);
    if (!hasStarted) clock.after(MAX_START_MS, () => hasStarted || host.endBy(signal));
    starting
      .then((server) => server.stop())
      .then(
        // Overrides an exit code that graph code may have set.
        () => exit(process.exitCode === EXIT_POISONED ? EXIT_POISONED : EXIT_OK, signal),
        (error: unknown) => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(process.exitCode ?? EXIT_DIFFERENT);
        },
      );
  }

  return {
    onSignals(starting) {
      let stopRequestedAt: number | undefined;
      host.onStopSignal((signal) => {
        const now = clock.monotonic();
        if (stopRequestedAt === undefined) {
          stopRequestedAt = now;
          stop(starting, signal);
          // A second signal ends the process at once; acknowledged commits are in the log already.
        } else if (now - stopRequestedAt > DUPLICATE_SIGNAL_MS) host.endBy(signal);
      });
    },
    onPoisoned() {
      process.exitCode = EXIT_POISONED;
      clock.after(POISONED_GRACE_MS, () => exit(EXIT_POISONED, 'SIGTERM'));
    },
    started: () => void (hasStarted = true),
  };
}
