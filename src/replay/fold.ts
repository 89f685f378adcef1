/** R2 State at any position is one fold away. The machine judges every fact on the way, as it did when it was live. */
import type { Recorded } from '../log/events.ts';
import type { ThreadEvent } from '../thread/events.ts';
import { startMachine } from '../thread/machine.ts';
import { evolve, initial, type ThreadState } from '../thread/state.ts';

export interface Step {
  readonly event: Recorded<ThreadEvent>;
  readonly before: ThreadState;
  readonly after: ThreadState;
  /** The machine would not have allowed it: the log is damaged. */
  readonly impossible: boolean;
}

export const isThreadEvent = (event: Recorded): event is Recorded<ThreadEvent> =>
  event.meta.stream.startsWith('thread-');

/** Folds one thread's facts. A purged stream begins with its tombstone, and that is all there is to it. */
export function createFold(): { step(event: Recorded<ThreadEvent>): Step; readonly state: ThreadState } {
  let state: ThreadState = initial;
  let machine = startMachine(initial);
  return {
    get state() {
      return state;
    },
    step(event) {
      const before = state;
      state = evolve(before, event);
      const tombstone = event.type === 'ThreadDeleted' && before.status === 'absent';
      const impossible = !tombstone && !machine.can(event);
      if (tombstone || impossible) machine = startMachine(state);
      else machine.send(event);
      return { event, before, after: state, impossible };
    },
  };
}
