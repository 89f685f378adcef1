/** Outcomes of runs: from the end of graph code, the reason to stop, or an error that could not be stored. */
import { stackOf } from '../kernel/stack.ts';
import type { LostAttempt, RunEnd, StopReason } from '../graphs/port.ts';
import type { Outcome } from '../thread/events.ts';
import type { Seen } from '../thread/origin.ts';
import { stopReason } from '../thread/run-end.ts';

export function toFailure(error: unknown): Extract<Outcome, { kind: 'error' }> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const stack = stackOf(error);
  return { kind: 'error', error: name, message, ...(stack !== undefined && { origin: { stack } }) };
}

/** Results of an attempt besides its outcome. */
export interface Left extends Seen {
  /** JSON text of final values that no checkpoint holds. */
  readonly untracked?: string | undefined;
}

export const leftBy = (end: RunEnd | LostAttempt): Left =>
  end.kind === 'lost'
    ? {}
    : {
        ...{ observed: end.observed, repeated: end.repeated, usage: end.usage },
        ...(end.kind === 'success' && { untracked: end.untracked }),
      };

/** Derives the run's outcome from the graph's end and the stop reason, if there is one. */
export function outcomeOf(
  end: RunEnd | LostAttempt,
  stop: StopReason | undefined,
  timeoutMs: number,
): Outcome {
  if (end.kind === 'success') return { kind: 'success', next: end.next, interrupts: toJson(end.interrupts) };
  if (end.kind === 'error') {
    const { observed: _, repeated: __, usage: ___, ...outcome } = end;
    return outcome;
  }
  const next = end.kind === 'stopped' ? end.next : undefined;
  switch (stop) {
    case 'timeout':
      return { kind: 'timeout', message: `The run exceeded its time limit of ${timeoutMs / 1000} s.` };
    case 'rollback':
      return { kind: 'rolled-back', reason: stopReason.cancel('rollback') };
    default:
      return { kind: 'cancelled', reason: stopReason.cancel('interrupt'), ...(next && { next }) };
  }
}

const toJson = (interrupts: Extract<RunEnd, { kind: 'success' }>['interrupts']) =>
  Object.fromEntries(Object.entries(interrupts).map(([task, list]) => [task, [...list]]));
