/**
 * One reader's way through a run's frames: by what its commits tell while nothing is missing, else by the log.
 *
 * S2 Frames come in order of their ids and as they were stored, so every reader sees the same: live, late, again, after
 * a restart. S3 A reader holds one page.
 */
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../log/log.ts';
import type { StoredFrame } from '../log/payloads.ts';
import { isRunOpen } from '../projections/run-end-queries.ts';
import type { Hub, RunPlace } from './hub.ts';
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
  /** Call it at the end, whatever the end; who waits then is woken. */
  close(): void;
}

const PAGE = 500;

/** Frames with ids above `after`. */
export function openRunPages(log: EventLog, hub: Hub, clock: Clock, run: RunPlace, after: number): RunPages {
  const follower = hub.follow(run);
  let cursor = after;
  /** There is no more than what the follower is told from now on. */
  let caughtUp = false;
  /** The signal that is listened to: once for the whole way, and not again for every frame. */
  let heard: AbortSignal | undefined;
  // The net under lost notices: the log is asked.
  let cancelPoll = clock.after(POLL_MS, look);
  function look(): void {
    follower.rouse();
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
      if (caughtUp && !follower.isAwake()) return [];
      const told = follower.take();
      const following = told && goesOn(told, cursor);
      caughtUp = following !== undefined;
      return following === undefined ? ask() : pass(following);
    },
    wait(signal) {
      if (signal.aborted) return Promise.resolve();
      if (heard !== signal) {
        heard?.removeEventListener('abort', follower.rouse);
        heard = signal;
        heard.addEventListener('abort', follower.rouse, { once: true });
      }
      return follower.woken;
    },
    close() {
      cancelPoll();
      heard?.removeEventListener('abort', follower.rouse);
      follower.close();
      // Whoever waits still.
      follower.rouse();
    },
  };
}

/** The frames above the cursor when none is missing between; undefined when the log has to be asked. */
function goesOn(told: readonly StoredFrame[], cursor: number): StoredFrame[] | undefined {
  const page = told.filter(({ id }) => id > cursor);
  return page.length > 0 && page.every(({ id }, index) => id === cursor + 1 + index) ? page : undefined;
}
