/** What a graph worker has to do: a run, or a question. */
import type { CheckpointReader, LostAttempt, RunLink } from '../port.ts';
import type { WorkerEnd } from './worker-end.ts';

export interface Job {
  readonly checkpoints?: CheckpointReader;
  readonly link?: RunLink;
  stopAt?: number;
  /** Of a run: another worker may do it, for this one has not begun it. */
  giveBack?(): void;
  lose(lost: LostAttempt): void;
}

/** `alone`: nobody else ever ran in the worker. What was left behind by a run that is over may end it as well. */
export function lostBy(end: WorkerEnd, id: number, job: Job, alone: boolean): LostAttempt {
  const lost = lostBefore(end, guiltOf(end, job, alone));
  return id === end.holder ? { ...lost, isHolder: true } : lost;
}

/** The worker had ended when it was to begin. */
export const lostBefore = (
  { error, message }: WorkerEnd,
  guilt: LostAttempt['guilt'] = 'none',
): LostAttempt => ({ kind: 'lost', guilt, error, message });

function guiltOf({ by }: WorkerEnd, job: Job, alone: boolean): LostAttempt['guilt'] {
  if (by === 'close') return 'none';
  if (by === 'stop') return job.stopAt === undefined ? 'none' : 'own';
  return alone ? 'own' : 'unknown';
}
