/** How long an attempt at a run may take, why it stops, and how long its end may take. */
import type { RunEnd, StopReason } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Recorded } from '../log/events.ts';
import type { RunRecord } from '../projections/run-queries.ts';

/** In milliseconds, for one attempt: the run's own limit, `config.timeout`, within that of the server. */
export function timeLimitOf({ kwargs }: Pick<RunRecord, 'kwargs'>, serverMs: number): number {
  const { timeout } = kwargs.config;
  return typeof timeout === 'number' ? Math.min(timeout, serverMs) : serverMs;
}

/** Why an attempt has to stop when this is told of its run. `isOver`: its own end is being recorded. */
export function stopFor(
  { type, data }: Recorded,
  { attempt, isOver }: { readonly attempt: number; readonly isOver: boolean },
): StopReason | undefined {
  switch (type) {
    case 'RunCancelRequested':
      return data.action;
    case 'RunCompleted':
      // Ended by somebody else, such as the deletion of its thread.
      return isOver ? undefined : 'fenced';
    case 'RunRequeued':
      // Declared dead by somebody else: what it still does is no part of the run.
      return data.attempt === attempt ? 'fenced' : undefined;
    default:
      return undefined;
  }
}

/**
 * `end` settles when a stop was asked for and the graph had its grace: graph code cannot keep a run open (X4). With
 * `hurry` it has none: the server stops.
 */
export function afterGrace(
  signal: AbortSignal,
  hurry: AbortSignal,
  clock: Clock,
  graceMs: number,
): { end: Promise<RunEnd>; cancel(): void } {
  let cancelTimer: () => void = () => undefined;
  let arm: () => void = () => undefined;
  const end = new Promise<RunEnd>((resolve) => {
    arm = () => {
      cancelTimer();
      if (!signal.aborted) return;
      const none = hurry.aborted || signal.reason === ('shutdown' satisfies StopReason);
      cancelTimer = clock.after(none ? 0 : graceMs, () => resolve({ kind: 'stopped' }));
    };
  });
  arm();
  for (const each of [signal, hurry]) each.addEventListener('abort', arm, { once: true });
  const cancel = (): void => {
    cancelTimer();
    for (const each of [signal, hurry]) each.removeEventListener('abort', arm);
  };
  return { end, cancel };
}
