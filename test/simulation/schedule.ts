/**
 * Everything that happens in a simulated life, one step after the other, in an order and at moments that the seed
 * chooses. Time passes between steps only, and as fast as they come.
 */
import { breathe } from '../../src/kernel/breathe.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { fingerprint } from '../../src/kernel/ids.ts';
import type { Random } from '../support/random.ts';

export interface Schedule {
  /** Milliseconds since the life began. */
  readonly elapsed: number;
  readonly steps: number;
  /** Wall time: it may jump. */
  now(): number;
  /** Sets the wall clock forward or back; what waits is not affected. */
  jump(ms: number): void;
  /** Does `work` in a step of its own at that time, in any order with what is due at the same time. */
  at(elapsed: number, label: string, work: () => void): () => void;
  /** The same after a while: mostly at once or soon, seldom long after. */
  soon(label: string, work: () => void): () => void;
  /** Draws how long something takes: mostly no time or little, seldom long. */
  delay(): number;
  /** The next step with all that it sets off; false when nothing waits, or nothing until `until`. */
  step(until?: number): Promise<boolean>;
  /** A line of the life's trace. */
  note(line: string): void;
  readonly trace: readonly string[];
  /** The same for two lives that went the same way. */
  digest(): string;
}

interface Task {
  readonly at: number;
  readonly tie: number;
  readonly label: string;
  readonly work: () => void;
}

const BEGINNING = Date.UTC(2026, 0, 1);
/** How slow things are, by turns. */
const DELAYS = [0, 0, 0, 1, 1, 2, 3, 5, 20, 150] as const;

export function createSchedule(random: Random): Schedule {
  /** Soonest last. */
  const tasks: Task[] = [];
  const trace: string[] = [];
  let elapsed = 0;
  let steps = 0;
  let offset = BEGINNING;

  function insert(task: Task): void {
    let low = 0;
    let high = tasks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = tasks[middle]!;
      if (other.at > task.at || (other.at === task.at && other.tie > task.tie)) low = middle + 1;
      else high = middle;
    }
    tasks.splice(low, 0, task);
  }

  const schedule: Schedule = {
    get elapsed() {
      return elapsed;
    },
    get steps() {
      return steps;
    },
    now: () => offset + elapsed,
    jump: (ms) => void (offset += ms),
    at(when, label, work) {
      const task = { at: Math.max(elapsed, when), tie: random.int(0, 2 ** 30), label, work };
      insert(task);
      return () => {
        const index = tasks.indexOf(task);
        if (index >= 0) tasks.splice(index, 1);
      };
    },
    delay: () => random.pick(DELAYS),
    soon: (label, work) => schedule.at(elapsed + schedule.delay(), label, work),
    async step(until = Infinity) {
      const task = tasks.at(-1);
      if (task === undefined || task.at > until) return false;
      tasks.pop();
      elapsed = task.at;
      steps += 1;
      schedule.note(task.label);
      task.work();
      // Comes after what the log's writer and an attempt's writes have put off to a turn of the event loop.
      await breathe();
      await breathe();
      return true;
    },
    note: (line) => void trace.push(`${elapsed} ${line}`),
    trace,
    digest: () => fingerprint(trace.join('\n')),
  };
  return schedule;
}

export interface ProcessSchedule extends Schedule {
  /** Nothing of the process happens for so long. */
  freeze(ms: number): void;
}

/** The schedule as one process has it: what is due while it is frozen happens afterwards. */
export function createProcessSchedule(schedule: Schedule): ProcessSchedule {
  let frozenUntil = 0;
  function at(when: number, label: string, work: () => void): () => void {
    let cancel = schedule.at(when, label, function go() {
      if (schedule.elapsed < frozenUntil) cancel = schedule.at(frozenUntil, label, go);
      else work();
    });
    return () => cancel();
  }
  return {
    ...{ now: schedule.now, jump: schedule.jump, step: schedule.step, note: schedule.note },
    ...{ trace: schedule.trace, digest: schedule.digest, at },
    get elapsed() {
      return schedule.elapsed;
    },
    get steps() {
      return schedule.steps;
    },
    soon: (label, work) => at(schedule.elapsed + schedule.delay(), label, work),
    delay: schedule.delay,
    freeze: (ms) => void (frozenUntil = schedule.elapsed + ms),
  };
}

export interface ProcessClock extends Clock {
  /** Where the timers that wait were set. */
  waiting(): string[];
  /** No timer of this process fires any more. */
  end(): void;
}

export function createProcessClock(schedule: Schedule): ProcessClock {
  const timers = new Map<() => void, Error>();
  let ended = false;
  return {
    now: () => schedule.now(),
    monotonic: () => schedule.elapsed,
    after(ms, fn) {
      if (ended) return () => undefined;
      const drop = schedule.at(schedule.elapsed + Math.max(0, Math.ceil(ms)), 'timer', () => {
        timers.delete(cancel);
        fn();
      });
      const cancel = (): void => {
        timers.delete(cancel);
        drop();
      };
      timers.set(cancel, new Error('set'));
      return cancel;
    },
    waiting: () => [...timers.values()].map(({ stack = '' }) => stack.split('\n')[2]?.trim() ?? ''),
    end() {
      ended = true;
      for (const cancel of [...timers.keys()]) cancel();
    },
  };
}
