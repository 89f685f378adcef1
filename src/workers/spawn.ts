/** Starts the process of a graph worker and ends it, with everything that it has started. */
import { ChildProcess, spawn } from 'node:child_process';
import { Duplex, type Readable } from 'node:stream';
import { ownProcess } from '../kernel/child-process.ts';
import { within } from '../kernel/within.ts';
import type { Clock } from '../kernel/clock.ts';

export interface WorkerProcess {
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  readonly channel: Duplex;
  readonly lifeline: Duplex;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process is gone. */
  readonly exited: Promise<Exit>;
  /** Ends the process and its process group at once. */
  kill(): void;
  /** Closes the channel, which asks the process to leave, and kills what has not left after a second. */
  leave(): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the process could not be started. */
  readonly error?: Error;
}

/** Part of a worker's memory that is V8's heap; the rest is code, buffers and the life line. */
const HEAP_PART = 0.75;
const LEAVE_MS = 1_000;
/** The report of an end waits so long for what the process printed last. */
const LAST_OUTPUT_MS = 200;

export function spawnWorker(env: NodeJS.ProcessEnv, memoryMb: number, clock: Clock): WorkerProcess {
  const child = startChild(env, memoryMb);
  const exit = exitOf(child);
  // Node makes no pipes for a process that it could not start for want of files.
  const pipes: unknown = (child.stdio as unknown) ?? Array.from({ length: 5 }, deadEnd);
  const [, stdout, stderr, channel, lifeline] = pipes as [null, Readable, Readable, Duplex, Duplex];
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left, or the system has no groups.
      child.kill('SIGKILL');
    }
  };
  const exited = exit.then(async (how) => {
    // Children of graph code go with the worker, however it ended.
    killGroup();
    await within(clock, LAST_OUTPUT_MS, new Promise((resolve) => child.once('close', resolve)));
    return how;
  });
  return {
    pid: child.pid,
    ...{ channel, lifeline, stdout, stderr, exited },
    kill: killGroup,
    async leave() {
      channel.end();
      await within(clock, LEAVE_MS, exited);
      killGroup();
    },
  };
}

/** Node throws some reasons why a process cannot be started, such as a lack of memory, and emits the others. */
function startChild(env: NodeJS.ProcessEnv, memoryMb: number): ChildProcess {
  const own = ownProcess('worker/main', Math.round(memoryMb * HEAP_PART), env);
  try {
    return spawn(own.command, own.args, {
      env: { ...env, ...own.env },
      // A process group of its own: the terminal's interrupt is for the server, and children of graph code are found by it.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    const child = new ChildProcess();
    queueMicrotask(() => child.emit('error', error));
    return child;
  }
}

function exitOf(child: ChildProcess): WorkerProcess['exited'] {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
  });
}

/** Takes everything and says nothing. */
const deadEnd = (): Duplex =>
  new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
