/**
 * The texts that the next ones of a file may lean on. Writer and reader follow the same rule, so that a reader needs
 * bounded memory: the newest texts, as many as have `MAX_CHARACTERS` together, and the last one however long it is.
 */
const MAX_CHARACTERS = 32 * 1024 * 1024;

export interface Window<K, T> {
  get(key: K): T | undefined;
  /** `length`: of the whole text, in UTF-16 units. */
  add(key: K, value: T, length: number): void;
}

export function createWindow<K, T>(maxCharacters = MAX_CHARACTERS): Window<K, T> {
  const held = new Map<K, { readonly value: T; readonly length: number }>();
  let total = 0;
  return {
    get: (key) => held.get(key)?.value,
    add(key, value, length) {
      held.set(key, { value, length });
      total += length;
      for (const [oldest, { length: freed }] of held) {
        if (total <= maxCharacters || held.size === 1) return;
        held.delete(oldest);
        total -= freed;
      }
    },
  };
}
