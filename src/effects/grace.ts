/** Time limits of an attempt: for the run, and for the graph's reaction to a stop. */
import type { RunEnd, StopReason } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Recorded } from '../store/port/events.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

/** Time limit of one attempt in milliseconds: `config.timeout` of the run, at most `serverMs`. */
export function timeLimitOf({ kwargs }: Pick<RunRecord, 'kwargs'>, serverMs: number): number {
  const { timeout } = kwargs.config;
  return typeof timeout === 'number' ? Math.min(timeout, serverMs) : serverMs;
}

/** Returns why this event stops the attempt, if it does. `isOver`: the attempt's own end is being committed. */
export function stopFor(
  { type, data }: Recorded,
  { attempt, isOver }: { readonly attempt: number; readonly isOver: boolean },
): StopReason | undefined {
  switch (type) {
    case 'RunCancelRequested':
      return data.action;
    case 'RunCompleted':
      // Another command ended the run, such as the deletion of its thread.
      return isOver ? undefined : 'fenced';
    case 'RunRequeued':
      // The attempt was declared dead: its further work does not belong to the run.
      return data.attempt === attempt ? 'fenced' : undefined;
    default:
      return undefined;
  }
}

/** X4 `end` resolves `graceMs` after `signal` aborts, at once after `hurry`: graph code cannot keep a run open. */
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
