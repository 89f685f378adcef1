/** Stops a graph behind the step in which its run reached a limit. */
import type { Meter } from '../meter.ts';

export interface BudgetStop {
  /** The library's control of a run: newer versions ask it before each step, also in subgraphs, and end with `GraphDrained`. */
  readonly control: object;
  /** Aborts a graph of an older version. */
  readonly signal: AbortSignal;
  /** Call behind each step. */
  readonly stepped: () => void;
  /** Whether the graph ended with this error because of the limit. */
  hasStopped(error: unknown): boolean;
}

export function openStop(meter: Meter): BudgetStop {
  const abort = new AbortController();
  let isAsked = false;
  return {
    control: {
      get drainRequested() {
        isAsked = true;
        return meter.reached() !== undefined;
      },
      get drainReason() {
        return meter.reached();
      },
    },
    signal: abort.signal,
    stepped() {
      if (!isAsked && meter.reached() !== undefined) abort.abort();
    },
    hasStopped: (error) => abort.signal.aborted || (error as Error | undefined)?.name === 'GraphDrained',
  };
}
