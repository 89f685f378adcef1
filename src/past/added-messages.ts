/** Reads from the messages that a run added: tokens used by models, and failed tools. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { History } from '../store/port/past.ts';

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export interface Added {
  /** Undefined when no message reports tokens. */
  readonly tokens?: Tokens;
  /** Tool failures that were returned to the model, so the graph went on. */
  readonly failedTools: readonly { readonly tool: string; readonly message: string }[];
}

export interface AddedMessages {
  /** Describes the messages that are new at this checkpoint; undefined when its values are gone. */
  at(head: string | null): Promise<Added | undefined>;
}

/** Call `at` for the thread's head checkpoints in order. */
export function openAddedMessages({ payloads }: History, threadId: string): AddedMessages {
  const seen = new Set<string>();
  /** False after unreadable values: all their messages would count as new. */
  let isKnown = true;
  return {
    async at(head) {
      if (head === null) return undefined;
      const values = (await payloads.values(threadId, head))?.parse();
      const isWhole = isKnown;
      isKnown = isObject(values);
      if (!isObject(values)) return undefined;
      const added = messagesOf(values).filter((message) => {
        const key = keyOf(message);
        return !seen.has(key) && seen.add(key) !== undefined;
      });
      return isWhole ? toAdded(added) : undefined;
    },
  };
}

/** Describes the messages that are in `after` and not in `before`. */
export function addedBetween(before: Json, after: Json): Added {
  const known = new Set(isObject(before) ? messagesOf(before).map(keyOf) : []);
  return toAdded(isObject(after) ? messagesOf(after).filter((message) => !known.has(keyOf(message))) : []);
}

const keyOf = (message: JsonObject): string =>
  typeof message['id'] === 'string' ? message['id'] : JSON.stringify(message);

function toAdded(messages: readonly JsonObject[]): Added {
  const usages = messages.flatMap(({ usage_metadata }) => (isObject(usage_metadata) ? [usage_metadata] : []));
  const sum = (name: string): number =>
    usages.reduce((total, usage) => total + (Number(usage[name]) || 0), 0);
  const failedTools = messages.flatMap(({ type, status, name, content }) =>
    type === 'tool' && status === 'error'
      ? [{ tool: String(name), message: typeof content === 'string' ? content : JSON.stringify(content) }]
      : [],
  );
  return {
    ...(usages.length > 0 && {
      tokens: { input: sum('input_tokens'), output: sum('output_tokens'), total: sum('total_tokens') },
    }),
    failedTools,
  };
}

const messagesOf = (values: JsonObject): JsonObject[] =>
  Object.values(values).flatMap((list) =>
    (Array.isArray(list) ? list : []).filter(
      (each: Json): each is JsonObject => isObject(each) && 'type' in each && 'content' in each,
    ),
  );
