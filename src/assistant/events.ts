/** The facts of an assistant: a graph plus configuration, versioned. See thread/events.ts for the rules of facts. */
import type { Json, JsonObject } from '../kernel/json.ts';

/** All that a version holds. A version is never edited: a change makes the next one. */
export interface AssistantContent {
  readonly graphId: string;
  readonly name: string;
  readonly description: string | null;
  readonly config: JsonObject;
  readonly context: Json;
  readonly metadata: JsonObject;
}

export interface AssistantEventMap {
  /** Version 1. `system`: made by the server for a graph of its configuration; open to every authenticated user. */
  AssistantCreated: { readonly assistantId: string; readonly system: boolean } & AssistantContent;
  /** A new version, the highest so far plus one, which becomes the assistant. */
  AssistantUpdated: { readonly assistantId: string; readonly version: number } & AssistantContent;
  /** An earlier version has become the assistant again, with all that it holds. */
  AssistantVersionSet: { readonly assistantId: string; readonly version: number } & AssistantContent;
  /** The stream's tombstone: everything before it is purged in the same commit (L3). */
  AssistantDeleted: { readonly assistantId: string };
}

export type AssistantEvent = {
  [K in keyof AssistantEventMap]: { readonly type: K; readonly data: AssistantEventMap[K] };
}[keyof AssistantEventMap];

export const assistantStream = (assistantId: string): string => `assistant-${assistantId}`;

export const isAssistantStream = (stream: string): boolean => stream.startsWith('assistant-');
