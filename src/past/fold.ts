/** R2 Folds the state of a thread, assistant or cron at any position. Every event is checked as in live operation. */
import { isAssistantStream, type AssistantEvent } from '../assistant/events.ts';
import * as assistant from '../assistant/state.ts';
import { isCronStream, type CronEvent } from '../cron/events.ts';
import * as cron from '../cron/state.ts';
import type { Recorded } from '../store/port/events.ts';
import { threadIdOf, type ThreadEvent } from '../thread/events.ts';
import { canAll } from '../thread/machine.ts';
import * as thread from '../thread/state.ts';

interface Folded<S> {
  readonly before: S;
  readonly after: S;
  /** The event cannot happen in the state before, so the log is damaged. */
  readonly impossible: boolean;
}

export interface Fold<E, S> {
  step(event: E): Folded<S>;
  readonly state: S;
}

interface Rules<E, S> {
  readonly initial: S;
  evolve(state: S, event: E): S;
  canFollow(state: S, event: E): boolean;
  /** Type of the first event of a purged stream. */
  readonly tombstone: string;
}

function openFold<E extends { readonly type: string }, S extends { readonly status: string }>(
  rules: Rules<E, S>,
): Fold<E, S> {
  let state = rules.initial;
  return {
    get state() {
      return state;
    },
    step(event) {
      const before = state;
      const isTombstone = event.type === rules.tombstone && before.status === 'absent';
      state = rules.evolve(before, event);
      return { before, after: state, impossible: !isTombstone && !rules.canFollow(before, event) };
    },
  };
}

export const foldThread = (): Fold<ThreadEvent, thread.ThreadState> =>
  openFold({
    ...thread,
    canFollow: (state: thread.ThreadState, event: ThreadEvent) => canAll(state, [event]),
    tombstone: 'ThreadDeleted',
  });

const foldAssistant = (): Fold<AssistantEvent, assistant.AssistantState> =>
  openFold({ ...assistant, tombstone: 'AssistantDeleted' });

export const foldCron = (): Fold<CronEvent, cron.CronState> =>
  openFold({ ...cron, tombstone: 'CronDeleted' });

/** Undefined for streams whose events need not follow from each other. */
export function foldStream(stream: string): Fold<Recorded, { readonly status: string }> | undefined {
  const open =
    threadIdOf(stream) !== undefined
      ? foldThread
      : isAssistantStream(stream)
        ? foldAssistant
        : isCronStream(stream)
          ? foldCron
          : undefined;
  // All events of a stream are of its kind.
  return open?.() as Fold<Recorded, { readonly status: string }> | undefined;
}
