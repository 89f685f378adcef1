/** What decisions about an assistant need to know, folded from its facts. Plain JSON: it is stored as the snapshot. */
import type { AssistantContent, AssistantEvent } from './events.ts';

export interface LivingAssistant {
  readonly status: 'living';
  readonly assistantId: string;
  readonly system: boolean;
  readonly content: AssistantContent;
  /** The version that is the assistant now, and the highest that was ever made. */
  readonly version: number;
  readonly newest: number;
}

export type AssistantState =
  | { readonly status: 'absent' }
  | LivingAssistant
  | { readonly status: 'deleted'; readonly assistantId: string };

export const initial: AssistantState = { status: 'absent' };

/** Whether a fact can happen. A deleted assistant's id can be used again. */
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

/** Total and pure: whether a fact can happen is `canFollow`'s business, what it means is told here. */
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

/** The members of a version and nothing else. */
export const contentOf = (from: AssistantContent): AssistantContent => ({
  graphId: from.graphId,
  name: from.name,
  description: from.description,
  config: from.config,
  context: from.context,
  metadata: from.metadata,
});
