/** Fires the timers of a re-executed run in the recorded order, without waiting. */
import { numberedFrom, type Arrivals } from './arrivals.ts';
import type { TaskKey } from './parts.ts';
import { currentQueue, type TimerName, type VirtualTimer } from './session.ts';
import { pollOf, timerOf } from './timer-log.ts';

export interface FiredTimer {
  readonly attempt: number;
  readonly task: TaskKey;
  readonly timer: string;
  /** Place among the equal timers of the task. */
  readonly index: number;
  /** Number of the arrival; null when the attempt ended before. */
  readonly arrival: number | null;
}

export interface RecordedTimers {
  start(task: TaskKey, name: TimerName, delayMs: number, timer: VirtualTimer): void;
  begin(task: TaskKey, operation: string, isReal: boolean): (deliver: () => void) => void;
  close(): void;
}

/** `isWhole`: delays are those of the recording; others may come from random values of another attempt. */
export function openRecordedTimers(
  fired: readonly FiredTimer[],
  arrivals: Arrivals,
  isWhole: boolean,
): RecordedTimers {
  const kindOf = (timer: string): string => (isWhole ? timer : timer.split(' ')[0]!);
  const numbers = new Map<string, (number | null)[]>();
  for (const { attempt, task, timer, index, arrival } of fired) {
    const key = `${task} ${kindOf(timer)} ${index}`;
    const [number = null] = numberedFrom(attempt, arrival);
    numbers.set(key, [...(numbers.get(key) ?? []), number]);
  }
  const started = new Map<string, number>();
  const live = new Set<VirtualTimer>();
  /** Another attempt counts queues anew, so that its polls fire every timer that polls then. */
  const polling = new Set<VirtualTimer>();
  const polls = isWhole ? [] : fired.filter(({ timer }) => timer.startsWith('poll '));
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

  /** Numbers of the arrivals of the next timer or operation of this kind. */
  function numbersOf(task: TaskKey, kind: string): (number | null)[] {
    const key = `${task} ${kind}`;
    const index = started.get(key) ?? 0;
    started.set(key, index + 1);
    return numbers.get(`${key} ${index}`) ?? [];
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
      const queue = currentQueue();
      if (queue !== undefined && !isWhole) {
        polling.add(timer);
        return poll();
      }
      const due =
        queue === undefined ? numbersOf(task, kindOf(timerOf(name, delayMs))) : numbersOf('', pollOf(queue));
      const next = (isFirst = false): void => {
        const number = due.shift() ?? null;
        if (number === null) {
          if (isFirst || timer.repeats) spare(timer, delayMs, queue !== undefined);
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
    begin(task, operation, isReal) {
      const [number] = numbersOf(task, operation);
      return (deliver) => {
        if (typeof number === 'number') arrivals.expect(number, deliver);
        else if (isReal && number === undefined) deliver();
        else arrivals.spare({ delayMs: 0, isPoll: false, isLive: () => true, fire: deliver });
      };
    },
    close() {
      for (const timer of live) timer.clear();
    },
  };
}
