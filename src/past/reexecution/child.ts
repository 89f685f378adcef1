/**
 * Executes a run again in a process of its own, which gets its order and sends its report by message. R1 The process has
 * the log read-only and no network.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { GraphSpec } from '../../graphs/loader.ts';
import { ownProcess } from '../../kernel/child-process.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { RunRef } from '../../thread/events.ts';
import type { ReexecutionOptions } from './execute.ts';

/** The one message to the process; its one answer is the report as JSON text. */
export interface ChildOrder extends Pick<ReexecutionOptions, 'match' | 'stubs' | 'from' | 'set'> {
  /** Address of the store. */
  readonly store: string;
  /** Graphs of the project by id. */
  readonly graphs: readonly GraphSpec[];
  readonly run: RunRef;
}

export interface ChildOptions {
  /** Working directory. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves with the report. Rejects when `signal` aborts or the process cannot be started. */
export async function executeInChild(
  order: ChildOrder,
  { folder, env, memoryMb, timeoutMs, clock, signal }: ChildOptions,
): Promise<string> {
  signal.throwIfAborted();
  const own = ownProcess('past/reexecution/child-entry', memoryMb, env);
  const child = spawn(own.command, own.args, {
    cwd: folder,
    env: { ...env, ...own.env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  });
  let report: string | undefined;
  child.once('message', (message) => (report = String(message)));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // The exit tells why a process could not take its order.
  child.send(order, () => undefined);
  const cancel = clock.after(timeoutMs, () => child.kill('SIGKILL'));
  try {
    const [code, errors] = await Promise.all([exited, text(child.stderr!)]);
    return report ?? untried(lastLine(errors) ?? `the process ended with ${code}`);
  } finally {
    cancel();
  }
}

export const untried = (reason: string): string => JSON.stringify({ verdict: 'untried', reasons: [reason] });

const lastLine = (output: string): string | undefined => output.trim().split('\n').at(-1) || undefined;
