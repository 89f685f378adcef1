/** R2 An assistant's state at any position is one fold away. */
import { isAssistantStream, type AssistantEvent } from '../assistant/events.ts';
import { canFollow, evolve, initial, type AssistantState } from '../assistant/state.ts';
import type { Recorded } from '../log/events.ts';

export const isAssistantEvent = (event: Recorded): event is Recorded<AssistantEvent> =>
  isAssistantStream(event.meta.stream);

/** `step` is false for a fact that could not happen. A purged stream begins with its tombstone. */
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
