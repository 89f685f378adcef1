/** What a graph worker has to do: a run, or a question. */
import type { CheckpointReader, LostAttempt, RunEnd, RunLink } from '../port.ts';
import { OUT_OF_MEMORY, type WorkerEnd } from './worker-end.ts';

/** `suspect`: one of several runs that may have ended their worker, so the next attempt has one of its own. */
export type Lost = LostAttempt & { readonly suspect?: true };

export interface Job {
  readonly checkpoints?: CheckpointReader;
  readonly link?: RunLink;
  stopAt?: number;
  /** Of a run: another worker may do it, for this one has not begun it. */
  giveBack?(): void;
  lose(how: Lost | Extract<RunEnd, { kind: 'error' }>): void;
}

/** `alone`: the worker never had another run. What a run left behind that is over may end it as well. */
export function lostBy(
  end: WorkerEnd,
  id: number,
  { stopAt }: Job,
  alone: boolean,
): Parameters<Job['lose']>[0] {
  const { by, error, message } = end;
  if (by === 'itself' && alone && error === OUT_OF_MEMORY) return { kind: 'error', error, message };
  const charged = by === 'itself' && alone;
  const isSuspect = charged || by === 'itself' || (id === end.holder && stopAt === undefined);
  return { ...lostBefore(end), charged, ...(isSuspect && { suspect: true }) };
}

/** The worker had ended when it was to begin. */
export const lostBefore = ({ error, message }: WorkerEnd): LostAttempt => ({
  ...{ kind: 'lost', charged: false, error, message },
});
