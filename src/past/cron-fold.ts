/** R2 Folds the state of a cron at any position. */
import { isCronStream, type CronEvent } from '../cron/events.ts';
import { canFollow, evolve, initial, type CronState } from '../cron/state.ts';
import type { Recorded } from '../log/events.ts';

export const isCronEvent = (event: Recorded): event is Recorded<CronEvent> => isCronStream(event.meta.stream);

/** `step` returns false for an impossible event. A purged stream consists of its tombstone. */
export function createCronFold(): { step(event: Recorded<CronEvent>): boolean; readonly state: CronState } {
  let state: CronState = initial;
  return {
    get state() {
      return state;
    },
    step(event) {
      const tombstone = event.type === 'CronDeleted' && state.status === 'absent';
      const possible = tombstone || canFollow(state, event);
      state = evolve(state, event);
      return possible;
    },
  };
}
