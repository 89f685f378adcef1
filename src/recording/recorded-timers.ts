/** Fires the timers of a re-executed run in the recorded order, without waiting. */
import { numberedFrom, type Arrivals } from './arrivals.ts';
import type { TaskKey } from './parts.ts';
import type { TimerName, VirtualTimer } from './session.ts';
import { isPoll, timerOf } from './timer-log.ts';

export interface FiredTimer {
  readonly attempt: number;
  readonly task: TaskKey;
  readonly timer: string;
  /** Place among the equal timers of the task. */
  readonly index: number;
  /** Number of the arrival. */
  readonly arrival: number;
}

export interface RecordedTimers {
  start(task: TaskKey, name: TimerName, delayMs: number, timer: VirtualTimer): void;
  close(): void;
}

/** `isWhole`: delays are those of the recording; others may come from random values of another attempt. */
export function openRecordedTimers(
  fired: readonly FiredTimer[],
  arrivals: Arrivals,
  isWhole: boolean,
): RecordedTimers {
  const kindOf = (timer: string): string => (isWhole ? timer : timer.split(' ')[0]!);
  const numbers = new Map<string, number[]>();
  for (const { attempt, task, timer, index, arrival } of fired) {
    const key = `${task} ${kindOf(timer)} ${index}`;
    numbers.set(key, [...(numbers.get(key) ?? []), ...numberedFrom(attempt, arrival)]);
  }
  const started = new Map<string, number>();
  const live = new Set<VirtualTimer>();
  /** Recorded polls fire every timer that polls then. */
  const polling = new Set<VirtualTimer>();
  const polls = fired.filter(({ timer, task }) => task === '' && timer === POLL);
  const pollNumbers = polls.flatMap(({ attempt, arrival }) => numberedFrom(attempt, arrival));
  let isPollDue = false;

  function poll(): void {
    if (polling.size === 0 || isPollDue) return;
    const number = pollNumbers.shift();
    if (number === undefined) {
      for (const timer of polling) spare(timer, 0, true);
      return;
    }
    isPollDue = true;
    arrivals.expect(number, () => {
      isPollDue = false;
      const due = [...polling];
      polling.clear();
      for (const timer of due) if (timer.isLive()) fire(timer);
      poll();
    });
  }

  function fire(timer: VirtualTimer): void {
    timer.fire();
    if (!timer.isLive()) live.delete(timer);
  }

  function spare(timer: VirtualTimer, delayMs: number, isPolling: boolean): void {
    arrivals.spare({
      ...{ delayMs, isPoll: isPolling, isLive: timer.isLive },
      fire() {
        polling.delete(timer);
        fire(timer);
        if (timer.repeats && timer.isLive()) spare(timer, delayMs, isPolling);
      },
    });
  }

  return {
    start(task, name, delayMs, timer) {
      live.add(timer);
      if (isPoll(task, name, delayMs)) {
        polling.add(timer);
        return poll();
      }
      const key = `${task} ${kindOf(timerOf(name, delayMs))}`;
      const index = started.get(key) ?? 0;
      started.set(key, index + 1);
      const due = numbers.get(`${key} ${index}`) ?? [];
      const next = (isFirst = false): void => {
        const number = due.shift();
        if (number === undefined) {
          if (isFirst || timer.repeats) spare(timer, delayMs, false);
          return;
        }
        arrivals.expect(number, () => {
          // The code cleared it.
          if (!timer.isLive()) return;
          next();
          fire(timer);
        });
      };
      next(true);
    },
    close() {
      for (const timer of live) timer.clear();
    },
  };
}

const POLL = timerOf('setTimeout', 1);
