/**
 * Fault attribution for a dead graph worker. X6 A run is charged only when no other run could have caused the death; of
 * several runs, those without a checkpoint from this worker are suspects. A charged or suspect run is retried alone.
 */
import type { LostAttempt, RunEnd } from '../graphs/port.ts';
import type { Exit } from './spawn.ts';

/**
 * `crash`: the process died. `memory`: it exceeded its limit. `stuck`: killed because a run did not stop. `ended`: the
 * server stopped it for another reason.
 */
export interface WorkerEnd {
  readonly by: 'crash' | 'memory' | 'stuck' | 'ended';
  readonly error: string;
  readonly message: string;
  /** `idle`: it had nothing to do. `stall`: it did not begin what it was given. */
  readonly cause?: 'idle' | 'stall';
}

/** The channel can carry nothing more. */
export const deafEnd: WorkerEnd = {
  by: 'crash',
  error: 'WorkerProtocol',
  message: 'The channel of the graph worker is closed or holds an incomplete message',
  cause: 'stall',
};

export const ended = (message: string): WorkerEnd => ({ by: 'ended', error: 'GraphsUnavailable', message });

export const memoryEnd = (memoryMb: number): WorkerEnd => ({
  by: 'memory',
  error: 'WorkerHeapLimit',
  message: `The process of the graph used more memory than its ${memoryMb} MB (PLATFORM_WORKER_MEMORY_MB)`,
});

/** `lastWords`: the end of the worker's standard error output. */
export function endOfExit({ code, signal, error }: Exit, lastWords: string, memoryMb: number): WorkerEnd {
  if (error !== undefined) {
    const message = `The process of the graph could not be started: ${error.message}`;
    return { by: 'crash', error: 'WorkerCrashed', message };
  }
  const output = lastWords.trim();
  // V8 prints one of these messages and aborts when its heap is full.
  if (/heap out of memory|Reached heap limit/.test(output)) return memoryEnd(memoryMb);
  const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`;
  const suffix = output === '' ? '' : `; its last output: ${output.slice(-500)}`;
  return { by: 'crash', error: 'WorkerCrashed', message: `The process of the graph ended ${how}${suffix}` };
}

export interface BegunRun {
  /** The run saved a checkpoint in this worker. */
  readonly saved: boolean;
  /** The server has asked the run to stop. */
  readonly stopping: boolean;
}

export type Fate = { readonly end: RunEnd | LostAttempt; readonly isSuspect: boolean };

/** Returns how each begun run of a dead worker ends, in the order of `begun`. */
export function fatesOf({ by, error, message }: WorkerEnd, begun: readonly BegunRun[]): Fate[] {
  const isAlone = begun.length === 1;
  return begun.map(({ saved, stopping }) => {
    const lost = (charged: boolean): LostAttempt => ({ kind: 'lost', charged, error, message });
    if (by === 'ended') return { end: lost(false), isSuspect: false };
    if (by === 'stuck' && stopping) return { end: { kind: 'stopped' }, isSuspect: false };
    if (by === 'memory' && isAlone) return { end: { kind: 'error', error, message }, isSuspect: false };
    return { end: lost(by === 'crash' && isAlone), isSuspect: isAlone || !saved };
  });
}
