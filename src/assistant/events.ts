/** The facts of an assistant: a graph plus configuration, versioned. See thread/events.ts for the rules of facts. */
import type { Json, JsonObject } from '../kernel/json.ts';

export interface AssistantEventMap {
  AssistantCreated: {
    assistantId: string;
    graphId: string;
    name: string;
    description: string | null;
    config: JsonObject;
    context: Json;
    metadata: JsonObject;
    /** Made by the server for a graph of its configuration; open to every authenticated user. */
    system: boolean;
  };
}

export type AssistantEvent = {
  [K in keyof AssistantEventMap]: { readonly type: K; readonly data: AssistantEventMap[K] };
}[keyof AssistantEventMap];

export const assistantStream = (assistantId: string): string => `assistant-${assistantId}`;
