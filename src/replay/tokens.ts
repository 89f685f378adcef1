/** Tokens that models say they used, summed over the messages that a run added to its thread's values. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { History } from '../log/sqlite/history.ts';

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export interface TokenCount {
  /** Of the messages that are new at this checkpoint; undefined when no message tells, or the values are gone. */
  addedAt(head: string | null): Promise<Tokens | undefined>;
}

/** Counts from one head of the thread to the next, in their order. */
export function openTokenCount({ payloads }: History, threadId: string): TokenCount {
  const seen = new Set<string>();
  /** False after values that could not be read: their messages would count as new. */
  let isKnown = true;
  return {
    async addedAt(head) {
      if (head === null) return undefined;
      const values = (await payloads.values(threadId, head))?.parse();
      if (!isObject(values)) {
        isKnown = false;
        return undefined;
      }
      const added = messagesOf(values).filter(({ id, usage }) => {
        const key = id ?? JSON.stringify(usage);
        return !seen.has(key) && seen.add(key) !== undefined;
      });
      const isWhole = isKnown;
      isKnown = true;
      if (added.length === 0 || !isWhole) return undefined;
      const sum = (name: string): number =>
        added.reduce((total, { usage }) => total + (Number(usage[name]) || 0), 0);
      return { input: sum('input_tokens'), output: sum('output_tokens'), total: sum('total_tokens') };
    },
  };
}

const messagesOf = (values: JsonObject): { id: string | undefined; usage: JsonObject }[] =>
  Object.values(values).flatMap((list) =>
    (Array.isArray(list) ? list : []).flatMap((message: Json) => {
      if (!isObject(message) || !isObject(message['usage_metadata'])) return [];
      const { id, usage_metadata } = message;
      return [{ id: typeof id === 'string' ? id : undefined, usage: usage_metadata }];
    }),
  );
