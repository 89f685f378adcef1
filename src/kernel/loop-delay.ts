import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Event-loop delay in seconds since the last reading. */
export interface LoopDelay {
  read(): { readonly mean: number; readonly p99: number; readonly max: number };
  stop(): void;
}

/** Sampling interval; bounds what a reading of an idle loop shows. */
const RESOLUTION_MS = 20;

export function watchLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // Each sample is due after the resolution; only the time beyond it is delay.
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
