/** Listeners of a log. What one of them throws keeps nothing from the others. */
export interface Listeners<T> {
  /** Returns what takes the listener back. */
  add(listener: (value: T) => void): () => void;
  tell(value: T): void;
}

export function createListeners<T>(onFault: (error: unknown) => void): Listeners<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(value) {
      for (const listener of [...listeners])
        try {
          listener(value);
        } catch (error) {
          onFault(error);
        }
    },
  };
}
