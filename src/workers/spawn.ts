/** Starts the process of a graph worker, and ends it together with its child processes. */
import { ChildProcess, spawn } from 'node:child_process';
import { Duplex, type Readable } from 'node:stream';
import { ownProcess } from '../kernel/child-process.ts';
import { within } from '../kernel/within.ts';
import type { Clock } from '../kernel/clock.ts';
import { workerEnvironment } from './environment.ts';

export interface WorkerProcess {
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  readonly channel: Duplex;
  readonly lifeline: Duplex;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has exited or could not be started. */
  readonly exited: Promise<Exit>;
  /** Kills the process group with SIGKILL. */
  kill(): void;
  /** Closes the channel, on which the process exits, and kills the process group after `LEAVE_MS` at the latest. */
  leave(): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Reason why the process could not be started. */
  readonly error?: Error;
}

/** Share of a worker's memory limit that V8's heap gets; the rest is for code, buffers and the lifeline thread. */
const HEAP_SHARE = 0.75;
const LEAVE_MS = 1_000;
/** `exited` waits this long for the last output of the process. */
const LAST_OUTPUT_MS = 200;

/** `secretPrefix`: of environment variables that hold webhook secrets. */
export function spawnWorker(secretPrefix: string, memoryMb: number, clock: Clock): WorkerProcess {
  const child = startChild(workerEnvironment(process.env, secretPrefix), memoryMb);
  // Node creates no pipes when the process cannot be started because file descriptors are exhausted.
  const pipes: unknown = (child.stdio as unknown) ?? Array.from({ length: 5 }, deadEnd);
  const [, stdout, stderr, channel, lifeline] = pipes as [null, Readable, Readable, Duplex, Duplex];
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group is empty, or the system has no process groups.
      child.kill('SIGKILL');
    }
  };
  const exited = exitOf(child).then(async (exit) => {
    // Child processes of graph code may have outlived the worker.
    killGroup();
    await within(clock, LAST_OUTPUT_MS, new Promise((resolve) => child.once('close', resolve)));
    return exit;
  });
  return {
    pid: child.pid,
    ...{ channel, lifeline, stdout, stderr, exited },
    kill: killGroup,
    async leave() {
      channel.end();
      // The server may exit before that: it does not wait for workers that others have replaced.
      process.once('exit', killGroup);
      await within(clock, LEAVE_MS, exited);
      process.off('exit', killGroup);
      killGroup();
    },
  };
}

/** Emits all start errors as `error`: Node throws some of them, such as a lack of memory. */
function startChild(env: NodeJS.ProcessEnv, memoryMb: number): ChildProcess {
  const own = ownProcess('worker/entry', Math.round(memoryMb * HEAP_SHARE), env);
  try {
    return spawn(own.command, own.args, {
      env: { ...env, ...own.env },
      // Starts a process group: Ctrl+C reaches only the server, and child processes of graph code can be killed.
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

/** A stream that discards writes and never emits data. */
const deadEnd = (): Duplex =>
  new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
