/**
 * The texts that the next ones will most likely be differences from, as the one writer last wrote them. Bounded; what is
 * forgotten is read again.
 *
 * Danger: what was seen within a transaction that is undone, or before rows went, is wrong. Then all is forgotten.
 */
import type { BaseText } from './text-rows.ts';

/** Of all texts together, in UTF-16 units. */
const MAX_HELD = 8_000_000;

export interface HeldTexts {
  of(key: string): readonly BaseText[];
  /** In the place of what was held under the key. */
  set(key: string, texts: readonly BaseText[]): void;
  /** The number of a thread. */
  thread(threadId: string, find: () => number): number;
  forget(): void;
}

/** Of threads. */
const MAX_THREADS = 5000;

/** No two of them have the same. */
export const heldKey = (kind: string, threadId: string, ns: string, name: string): string =>
  `${kind} ${threadId} ${ns.length} ${ns} ${name}`;

export function createHeldTexts(): HeldTexts {
  const held = new Map<string, readonly BaseText[]>();
  const threads = new Map<string, number>();
  let size = 0;
  const sizeOf = (texts: readonly BaseText[]): number =>
    texts.reduce((sum, { text }) => sum + text.length, 0);
  function drop(key: string): void {
    size -= sizeOf(held.get(key) ?? []);
    held.delete(key);
  }
  return {
    of: (key) => held.get(key) ?? [],
    set(key, texts) {
      drop(key);
      held.set(key, texts);
      size += sizeOf(texts);
      for (const oldest of held.keys()) {
        if (size <= MAX_HELD) break;
        drop(oldest);
      }
    },
    thread(threadId, find) {
      const known = threads.get(threadId) ?? find();
      if (threads.size >= MAX_THREADS) threads.clear();
      threads.set(threadId, known);
      return known;
    },
    forget() {
      held.clear();
      threads.clear();
      size = 0;
    },
  };
}
