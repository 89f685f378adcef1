/**
 * Reads a run's frames page by page for one reader: pushed frames while they have no gap, otherwise the log.
 *
 * S2 Frames come in the order of their ids, as stored, so live, late and restarted readers see the same. S3 A reader
 * holds one page.
 */
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../store/port/log.ts';
import { createPatience } from '../store/port/patience.ts';
import type { StoredFrame } from '../store/port/payloads.ts';
import type { RunRef } from '../thread/events.ts';
import type { Hub } from './hub.ts';
import { POLL_MS } from './pause.ts';
import type { Subscriber } from './subscriber.ts';

type Page = StoredFrame[] | undefined;

export interface RunPages {
  /**
   * The next frames; empty when no more are committed yet; undefined when the run has ended and all were returned.
   * Synchronous unless the log is read, because a promise per frame would dominate garbage collection.
   */
  poll(): Page | Promise<Page>;
  /** Call it after an empty poll: settles when more frames are likely, or on abort. */
  wait(signal: AbortSignal): Promise<void>;
  /** Releases the subscription and settles a pending `wait`. Every reader must call it. */
  close(): void;
}

const PAGE_FRAMES = 500;

/** Frames with ids above `after`. `followed`: the run's subscriber since before its creation. */
export function openRunPages(
  log: EventLog,
  hub: Hub,
  clock: Clock,
  run: RunRef,
  after: number,
  followed?: Subscriber,
): RunPages {
  const subscriber = followed ?? hub.subscribe(run);
  let cursor = after;
  /** True when every later frame is pushed, so the log need not be read. */
  let caughtUp = followed !== undefined;
  /** The signal that has this stream's one listener. A listener per frame would cost more. */
  let listened: AbortSignal | undefined;
  // The poll finds frames whose notification was lost.
  let cancelPoll = clock.after(POLL_MS, wakeAndRearm);
  function wakeAndRearm(): void {
    subscriber.wake();
    cancelPoll = clock.after(POLL_MS, wakeAndRearm);
  }

  const advance = (page: StoredFrame[]): StoredFrame[] => {
    cursor = page.at(-1)?.id ?? cursor;
    return page;
  };

  let isClosed = false;
  const patiently = createPatience(clock, () => isClosed);

  async function readLog(): Promise<Page> {
    // The end is read before the frames: the last frames are committed no later than the end.
    const open = await patiently(() => log.views.runs.isOpen(run.runId));
    const page = await patiently(() => log.payloads.frames(run.runId, cursor, PAGE_FRAMES));
    caughtUp = page.length === 0;
    return caughtUp && !open ? undefined : advance(page);
  }

  return {
    poll() {
      if (caughtUp && subscriber.isOver()) return undefined;
      if (caughtUp && !subscriber.isAwake()) return [];
      const pushed = subscriber.take();
      const page = pushed && withoutGap(pushed, cursor);
      caughtUp = page !== undefined;
      return page === undefined ? readLog() : advance(page);
    },
    wait(signal) {
      if (signal.aborted) return Promise.resolve();
      if (listened !== signal) {
        listened?.removeEventListener('abort', subscriber.wake);
        listened = signal;
        listened.addEventListener('abort', subscriber.wake, { once: true });
      }
      return subscriber.woken;
    },
    close() {
      isClosed = true;
      cancelPoll();
      listened?.removeEventListener('abort', subscriber.wake);
      subscriber.close();
      subscriber.wake();
    },
  };
}

/** The frames above the cursor if their ids are dense; undefined when the log must be read instead. */
function withoutGap(pushed: readonly StoredFrame[], cursor: number): StoredFrame[] | undefined {
  const page = pushed.filter(({ id }) => id > cursor);
  return page.length > 0 && page.every(({ id }, index) => id === cursor + 1 + index) ? page : undefined;
}
