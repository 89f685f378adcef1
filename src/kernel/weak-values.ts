/** Shorter texts cost less than the bookkeeping to share them. In characters. */
export const WORTH_HOLDING = 65_536;

/** Map whose values are garbage-collected once no other code holds them. */
export interface WeakValues<T extends object> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  clear(): void;
}

export function createWeakValues<T extends object>(): WeakValues<T> {
  const held = new Map<string, WeakRef<T>>();
  const collected = new FinalizationRegistry((key: string) => {
    if (held.get(key)?.deref() === undefined) held.delete(key);
  });
  return {
    get: (key) => held.get(key)?.deref(),
    set(key, value) {
      held.set(key, new WeakRef(value));
      collected.register(value, key);
    },
    clear: () => held.clear(),
  };
}
