/** How long an attempt at a run may take, and how long its end. */
import type { RunEnd, StopReason } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { RunRecord } from '../projections/run-queries.ts';

/** In milliseconds, for one attempt: the run's own limit, `config.timeout`, within that of the server. */
export function timeLimitOf({ kwargs }: Pick<RunRecord, 'kwargs'>, serverMs: number): number {
  const { timeout } = kwargs.config;
  return typeof timeout === 'number' ? Math.min(timeout, serverMs) : serverMs;
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
