/**
 * One reader's way through a run's frames: pushed frames while none is missing, otherwise the log.
 *
 * S2 Frames come in order of their ids and as they were stored, so every reader sees the same: live, late, again, after
 * a restart. S3 A reader holds one page.
 */
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../log/log.ts';
import type { StoredFrame } from '../log/payloads.ts';
import { isRunOpen } from '../projections/run-end-queries.ts';
import type { RunRef } from '../thread/events.ts';
import type { Hub } from './hub.ts';
import { POLL_MS } from './pause.ts';

type Page = StoredFrame[] | undefined;

export interface RunPages {
  /**
   * The next frames, none when there are no more for now; undefined when the run has ended and all were passed on.
   * At once when the log need not be asked: a promise for every frame would be most of the garbage.
   */
  poll(): Page | Promise<Page>;
  /** After a poll that found none: settles when there may be more, or on abort. */
  wait(signal: AbortSignal): Promise<void>;
  /** Call it at the end in any case: it settles `wait`. */
  close(): void;
}

const PAGE = 500;

/** Frames with ids above `after`. */
export function openRunPages(log: EventLog, hub: Hub, clock: Clock, run: RunRef, after: number): RunPages {
  const subscriber = hub.subscribe(run);
  let cursor = after;
  /** The log has no frame that will not be pushed. */
  let caughtUp = false;
  /** The signal with a listener: one listener for the whole stream instead of one for every frame. */
  let heard: AbortSignal | undefined;
  // A lost notice is found by a look into the log.
  let cancelPoll = clock.after(POLL_MS, look);
  function look(): void {
    subscriber.wake();
    cancelPoll = clock.after(POLL_MS, look);
  }

  const pass = (page: StoredFrame[]): StoredFrame[] => {
    cursor = page.at(-1)?.id ?? cursor;
    return page;
  };

  async function ask(): Promise<Page> {
    // The end is looked up before the frames: the last frames were committed no later than the end.
    const open = await isRunOpen(log.rows, run.runId);
    const page = await log.payloads.frames(run.runId, cursor, PAGE);
    caughtUp = page.length === 0;
    return caughtUp && !open ? undefined : pass(page);
  }

  return {
    poll() {
      if (caughtUp && !subscriber.isAwake()) return [];
      const told = subscriber.take();
      const page = told && withoutGap(told, cursor);
      caughtUp = page !== undefined;
      return page === undefined ? ask() : pass(page);
    },
    wait(signal) {
      if (signal.aborted) return Promise.resolve();
      if (heard !== signal) {
        heard?.removeEventListener('abort', subscriber.wake);
        heard = signal;
        heard.addEventListener('abort', subscriber.wake, { once: true });
      }
      return subscriber.woken;
    },
    close() {
      cancelPoll();
      heard?.removeEventListener('abort', subscriber.wake);
      subscriber.close();
      subscriber.wake();
    },
  };
}

/** The frames above the cursor when none is missing between; undefined when the log has to be asked. */
function withoutGap(told: readonly StoredFrame[], cursor: number): StoredFrame[] | undefined {
  const page = told.filter(({ id }) => id > cursor);
  return page.length > 0 && page.every(({ id }, index) => id === cursor + 1 + index) ? page : undefined;
}
