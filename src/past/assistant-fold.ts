/** R2 Folds the state of an assistant at any position. */
import { isAssistantStream, type AssistantEvent } from '../assistant/events.ts';
import { canFollow, evolve, initial, type AssistantState } from '../assistant/state.ts';
import type { Recorded } from '../log/events.ts';

export const isAssistantEvent = (event: Recorded): event is Recorded<AssistantEvent> =>
  isAssistantStream(event.meta.stream);

/** `step` returns false for an impossible event. A purged stream begins with its tombstone. */
export function createAssistantFold(): {
  step(event: Recorded<AssistantEvent>): boolean;
  readonly state: AssistantState;
} {
  let state: AssistantState = initial;
  return {
    get state() {
      return state;
    },
    step(event) {
      const tombstone = event.type === 'AssistantDeleted' && state.status === 'absent';
      const possible = tombstone || canFollow(state, event);
      state = evolve(state, event);
      return possible;
    },
  };
}
