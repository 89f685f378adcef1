/**
 * Measures a worker's own time: the time in which its main thread computed or could have. A thread that waits for a
 * processor has none, so code on a starved machine does not look stalled.
 */
import { readFileSync } from 'node:fs';
import { HEARTBEAT_INTERVAL_MS } from '../workers/heartbeat.ts';

/** Unit of the processor times in `/proc`. */
const TICK_MS = 10;
/** Own time between two measurements of a thread that waits: it may have been stopped meanwhile. */
const MAX_WAIT_MS = 2 * HEARTBEAT_INTERVAL_MS;

interface Measured {
  /** Undefined where the system does not tell. */
  readonly isWaiting: boolean | undefined;
  readonly processorMs: number;
}

/** Of the main thread, or of the whole process where there is no `/proc`. */
function measure(): Measured {
  try {
    // The main thread has the number of the process. The name of the thread may contain spaces and parentheses.
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { isWaiting: state === 'S', processorMs: TICK_MS * (Number(fields[10]) + Number(fields[11])) };
  } catch {
    const { user, system } = process.cpuUsage();
    return { isWaiting: undefined, processorMs: (user + system) / 1_000 };
  }
}

/**
 * Returns a function that returns the own time since its previous call, in milliseconds. `passedMs`: wall-clock time since
 * then. `hasTurned`: the event loop has run since then.
 */
export function ownTime(): (passedMs: number, hasTurned: boolean) => number {
  let before = measure().processorMs;
  return (passedMs, hasTurned) => {
    const { isWaiting = hasTurned, processorMs } = measure();
    const computedMs = processorMs - before;
    before = processorMs;
    return isWaiting ? Math.max(computedMs, Math.min(passedMs, MAX_WAIT_MS)) : computedMs;
  };
}
