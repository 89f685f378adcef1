/** R2 Folds the state of a thread at any position. The machine checks every event as in live operation. */
import type { Recorded } from '../log/events.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { canAll } from '../thread/machine.ts';
import { evolve, initial, type ThreadState } from '../thread/state.ts';

export interface Step {
  readonly event: Recorded<ThreadEvent>;
  readonly before: ThreadState;
  readonly after: ThreadState;
  /** The machine does not allow the event, so the log is damaged. */
  readonly impossible: boolean;
}

export const isThreadEvent = (event: Recorded): event is Recorded<ThreadEvent> =>
  event.meta.stream.startsWith('thread-');

/** Folds the events of one thread. A purged stream begins with its tombstone. */
export function createFold(): { step(event: Recorded<ThreadEvent>): Step; readonly state: ThreadState } {
  let state: ThreadState = initial;
  return {
    get state() {
      return state;
    },
    step(event) {
      const before = state;
      state = evolve(before, event);
      const tombstone = event.type === 'ThreadDeleted' && before.status === 'absent';
      return { event, before, after: state, impossible: !tombstone && !canAll(before, [event]) };
    },
  };
}
