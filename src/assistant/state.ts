/** The state that assistant decisions need, folded from events. Plain JSON: it is stored as the stream's snapshot. */
import type { AssistantContent, AssistantEvent } from './events.ts';

interface LivingAssistant {
  readonly status: 'living';
  readonly assistantId: string;
  readonly system: boolean;
  readonly content: AssistantContent;
  /** The current version. `newest`: the highest version ever created. */
  readonly version: number;
  readonly newest: number;
}

export type AssistantState =
  | { readonly status: 'absent' }
  | LivingAssistant
  | { readonly status: 'deleted'; readonly assistantId: string };

export const initial: AssistantState = { status: 'absent' };

/** Tells whether an event can happen. A deleted assistant's id can be reused. */
export function canFollow(state: AssistantState, event: AssistantEvent): boolean {
  if (event.type === 'AssistantCreated') return state.status !== 'living';
  if (state.status !== 'living') return false;
  switch (event.type) {
    case 'AssistantUpdated':
      return event.data.version === state.newest + 1;
    case 'AssistantVersionSet':
      return event.data.version >= 1 && event.data.version <= state.newest;
    case 'AssistantDeleted':
      return true;
  }
}

/** Total and pure: `canFollow` decides whether an event can happen, `evolve` only applies it. */
export function evolve(state: AssistantState, event: AssistantEvent): AssistantState {
  const { assistantId } = event.data;
  switch (event.type) {
    case 'AssistantCreated': {
      const { system } = event.data;
      const content = contentOf(event.data);
      return { status: 'living', assistantId, system, content, version: 1, newest: 1 };
    }
    case 'AssistantUpdated':
    case 'AssistantVersionSet': {
      if (state.status !== 'living') return state;
      const { version } = event.data;
      const newest = Math.max(state.newest, version);
      return { ...state, content: contentOf(event.data), version, newest };
    }
    case 'AssistantDeleted':
      return { status: 'deleted', assistantId };
  }
}

/** Picks the members of a version's content. */
export const contentOf = (from: AssistantContent): AssistantContent => ({
  graphId: from.graphId,
  name: from.name,
  description: from.description,
  config: from.config,
  context: from.context,
  metadata: from.metadata,
});
