/** Decides an assistant command: returns an event, or a refusal with its reason. Pure. */
import type { JsonObject } from '../kernel/json.ts';
import type { AssistantContent, AssistantEvent } from './events.ts';
import { canFollow, contentOf, type AssistantState } from './state.ts';

export type AssistantCommand =
  | { type: 'CreateAssistant'; assistantId: string; content: AssistantContent; system: boolean }
  /** `metadata` is merged key by key; other members are replaced. An update without changes still creates a version. */
  | { type: 'UpdateAssistant'; changes: Partial<AssistantContent> }
  | { type: 'SetAssistantVersion'; version: number }
  | { type: 'DeleteAssistant' };

export type AssistantRefusal =
  | { readonly code: 'assistant-missing' }
  | { readonly code: 'assistant-exists' }
  | { readonly code: 'version-missing' };

export type AssistantDecision =
  | { readonly ok: true; readonly event: AssistantEvent }
  | { readonly ok: false; readonly refusal: AssistantRefusal };

const accept = (event: AssistantEvent): AssistantDecision => ({ ok: true, event });
const refuse = (code: AssistantRefusal['code']): AssistantDecision => ({ ok: false, refusal: { code } });

/** `wanted`: the content of the version to set; the state would grow with every version. */
export function decide(
  command: AssistantCommand,
  state: AssistantState,
  wanted?: AssistantContent,
): AssistantDecision {
  if (command.type === 'CreateAssistant') {
    const { assistantId, system, content } = command;
    const metadata = stamped(content.metadata, system);
    const fact: AssistantEvent = {
      type: 'AssistantCreated',
      data: { assistantId, system, ...content, metadata },
    };
    return canFollow(state, fact) ? accept(fact) : refuse('assistant-exists');
  }
  if (state.status !== 'living') return refuse('assistant-missing');
  const { assistantId, system } = state;
  switch (command.type) {
    case 'UpdateAssistant': {
      const { changes } = command;
      const metadata = stamped({ ...state.content.metadata, ...changes.metadata }, system);
      return accept({
        type: 'AssistantUpdated',
        data: { assistantId, version: state.newest + 1, ...state.content, ...changes, metadata },
      });
    }
    case 'SetAssistantVersion': {
      const { version } = command;
      if (wanted === undefined || version > state.newest) return refuse('version-missing');
      return accept({ type: 'AssistantVersionSet', data: { assistantId, version, ...contentOf(wanted) } });
    }
    case 'DeleteAssistant':
      return accept({ type: 'AssistantDeleted', data: { assistantId } });
  }
}

const BY_SYSTEM = 'system';

/** Sets or removes `created_by: system`, the mark by which searches find system assistants. */
function stamped(metadata: JsonObject, system: boolean): JsonObject {
  if (system) return { ...metadata, created_by: BY_SYSTEM };
  const { created_by: by, ...rest } = metadata;
  return by === BY_SYSTEM ? rest : metadata;
}
