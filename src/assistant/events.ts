/** The events of an assistant: a graph plus configuration, versioned. `thread/events.ts` has the rules for events. */
import type { Json, JsonObject } from '../kernel/json.ts';

/** The content of a version. A version is never edited; a change creates the next one. */
export interface AssistantContent {
  readonly graphId: string;
  readonly name: string;
  readonly description: string | null;
  readonly config: JsonObject;
  readonly context: Json;
  readonly metadata: JsonObject;
}

interface AssistantEventMap {
  /** Creates version 1. `system`: made by the server for a configured graph; visible to every authenticated user. */
  AssistantCreated: { readonly assistantId: string; readonly system: boolean } & AssistantContent;
  /** Creates the next version and makes it current. */
  AssistantUpdated: { readonly assistantId: string; readonly version: number } & AssistantContent;
  /** Makes an earlier version current again, with all its content. */
  AssistantVersionSet: { readonly assistantId: string; readonly version: number } & AssistantContent;
  /** The stream's tombstone: all earlier events are purged in the same commit (L3). */
  AssistantDeleted: { readonly assistantId: string };
}

export type AssistantEvent = {
  [K in keyof AssistantEventMap]: { readonly type: K; readonly data: AssistantEventMap[K] };
}[keyof AssistantEventMap];

/** The types of events that this program can read. */
export const ASSISTANT_EVENTS: Readonly<Record<AssistantEvent['type'], true>> = {
  AssistantCreated: true,
  AssistantUpdated: true,
  AssistantVersionSet: true,
  AssistantDeleted: true,
};

export const assistantStream = (assistantId: string): string => `assistant-${assistantId}`;

export const isAssistantStream = (stream: string): boolean => stream.startsWith('assistant-');
