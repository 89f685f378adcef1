/**
 * Looks for what is due, in one question for all reactors: each second, and at the next time at which something becomes due.
 *
 * X5 A lost wake-up, a restart or a clock jump delays work by a second at most. Work that another node commits is seen by a
 * look, or earlier where a notice tells of it.
 */
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Recorded } from '../store/port/events.ts';
import type { EventLog } from '../store/port/log.ts';
import type { Due, Outlook } from '../store/port/nodes.ts';
import type { OnFault } from './fault.ts';

export interface DueWatch {
  /** `act` hears of each look that is at least `POLL_MS` after the one before. The returned function ends that. */
  onPoll(act: (found: Outlook) => void): () => void;
  /** `act` hears of each look that finds something of the kind due. */
  on(kind: Due, act: () => void): () => void;
  stop(): void;
}

interface DueWatchOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

const POLL_MS = 1_000;

export function watchDue({ log, clock, onFault }: DueWatchOptions): DueWatch {
  const onLooks = new Set<(found: Outlook) => void>();
  const onPolls = new Set<(found: Outlook) => void>();
  let isLooking = false;
  let isStopped = false;
  let nextPoll = dueTime(clock) + POLL_MS;
  let next = nextPoll;
  let cancel: () => void = () => undefined;

  function arm(): void {
    cancel();
    if (!isStopped && !isLooking) cancel = clock.after(next - dueTime(clock), () => void look());
  }

  async function look(): Promise<void> {
    isLooking = true;
    const now = dueTime(clock);
    const isPoll = now >= nextPoll;
    if (isPoll) nextPoll = now + POLL_MS;
    next = nextPoll;
    try {
      const found = await log.nodes.look(now);
      next = Math.min(next, found.next ?? Infinity);
      for (const act of isStopped ? [] : [...onLooks, ...(isPoll ? onPolls : [])]) act(found);
    } catch (error) {
      onFault(error, 'looking for what is due');
    }
    isLooking = false;
    arm();
  }

  const unsubscribe = log.onCommitted(({ events, dueAt = Infinity }) => {
    const soonest = Math.min(dueAt, ...events.map(plannedBy));
    if (soonest >= next) return;
    next = soonest;
    arm();
  });
  const unsubscribePoisoned = log.onPoisoned(stop);
  arm();

  function stop(): void {
    isStopped = true;
    unsubscribe();
    unsubscribePoisoned();
    cancel();
  }

  return {
    onPoll: (act) => add(onPolls, act),
    on: (kind, act) => add(onLooks, ({ due }) => void (due.has(kind) && act())),
    stop,
  };
}

function add<T>(set: Set<T>, one: T): () => void {
  set.add(one);
  return () => set.delete(one);
}

/** A cron or delivery that the event changes becomes due then. */
const plannedBy = ({ data }: Recorded): number => ('nextAt' in data ? data.nextAt : null) ?? Infinity;
