/**
 * Has a run judged in a process of its own, which gets its order and sends its report by message. R1 It has the log
 * read-only, and starts another process for the graph code (closed-process.ts).
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { GraphSpec } from '../../graphs/loader.ts';
import { ownProcess } from '../../kernel/child-process.ts';
import type { RunRef } from '../../thread/events.ts';
import type { ReexecutionOptions } from './execute.ts';

/** The first message to the process; its one answer is the report as JSON text. */
export interface ChildOrder extends Pick<
  ReexecutionOptions,
  'match' | 'stubs' | 'from' | 'set' | 'allowUnused'
> {
  /** Address of the store. */
  readonly store: string;
  /** Keys of the store's encrypted content. */
  readonly keys: readonly string[];
  /** Graphs of the project by id. */
  readonly graphs: readonly GraphSpec[];
  readonly run: RunRef;
  /** As of the options, by the number of the exchange as text. */
  readonly answers: Readonly<Record<string, string>>;
  /** Limit of the process that executes the run. */
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

export interface ChildOptions {
  /** Working directory. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The message that ends the process. */
export const LEAVE = 'leave';

/** Resolves with the report. Rejects when `signal` aborts or the process cannot be started. */
export async function executeInChild(
  order: ChildOrder,
  { folder, env, signal }: ChildOptions,
): Promise<string> {
  signal.throwIfAborted();
  const own = ownProcess('past/reexecution/child-entry', order.memoryMb, env);
  const child = spawn(own.command, own.args, {
    cwd: folder,
    env: { ...env, ...own.env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  // The process ends the one that it started, and then itself.
  const leave = (): void => void child.send(LEAVE, () => undefined);
  signal.addEventListener('abort', leave, { once: true });
  let report: string | undefined;
  child.once('message', (message) => (report = String(message)));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // The exit tells why a process could not take its order.
  child.send(order, () => undefined);
  try {
    const [code, errors] = await Promise.all([exited, text(child.stderr!)]);
    signal.throwIfAborted();
    return report ?? untried(lastLine(errors) ?? `the process ended with ${code}`);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export const untried = (reason: string): string => JSON.stringify({ verdict: 'untried', reasons: [reason] });

const lastLine = (output: string): string | undefined => output.trim().split('\n').at(-1) || undefined;
