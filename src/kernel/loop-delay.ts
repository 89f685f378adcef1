import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop was, in seconds, since the last reading. */
export interface LoopDelay {
  read(): { readonly mean: number; readonly p99: number; readonly max: number };
  stop(): void;
}

/** How often it is looked at, and so what a reading of a calm loop shows at most. */
const RESOLUTION_MS = 20;

export function watchLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // Each tick of the watch is due after its resolution; only what comes on top of that is delay.
  const seconds = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) : 0;
  return {
    read() {
      const { mean, max } = histogram;
      const reading = {
        mean: seconds(mean),
        p99: seconds(histogram.percentile(99)),
        max: histogram.count === 0 ? 0 : seconds(max),
      };
      histogram.reset();
      return reading;
    },
    stop: () => void histogram.disable(),
  };
}
