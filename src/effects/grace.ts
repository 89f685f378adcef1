import type { RunEnd, StopReason } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';

/** How long a graph may take to honour a stop before its run ends without it. */
const STOP_GRACE_MS = 5_000;

/**
 * `end` settles when a stop was asked for and the graph had its grace: graph code cannot keep a run open (X4). With
 * `hurry` it has none: the server stops.
 */
export function afterGrace(
  signal: AbortSignal,
  hurry: AbortSignal,
  clock: Clock,
): { end: Promise<RunEnd>; cancel(): void } {
  let cancelTimer: () => void = () => undefined;
  let arm: () => void = () => undefined;
  const end = new Promise<RunEnd>((resolve) => {
    arm = () => {
      cancelTimer();
      if (!signal.aborted) return;
      const none = hurry.aborted || signal.reason === ('shutdown' satisfies StopReason);
      cancelTimer = clock.after(none ? 0 : STOP_GRACE_MS, () => resolve({ kind: 'stopped' }));
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
