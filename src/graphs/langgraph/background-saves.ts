/**
 * A store whose saves go on in the background: a runtime that does not wait for the disk saves its next checkpoint only
 * after the one before was taken, and one that is stopped meanwhile would have lost those that it had not come to.
 */
import type { AttemptStore } from '../attempt.ts';

export interface BackgroundSaves {
  /** `save` resolves at once; what is read has all of them. */
  readonly store: AttemptStore;
  /** Resolves when all that was saved was taken. */
  settled(): Promise<void>;
}

/** `fail` hears of a save that was refused. */
export function openBackgroundSaves(store: AttemptStore, fail: (error: unknown) => void): BackgroundSaves {
  const open = new Set<Promise<void>>();
  const settled = async (): Promise<void> => void (await Promise.all(open));
  return {
    settled,
    store: {
      async load(ns, checkpointId) {
        await settled();
        return store.load(ns, checkpointId);
      },
      async list(query) {
        await settled();
        return store.list(query);
      },
      async save(checkpoint, made) {
        const saving = store
          .save(checkpoint, made)
          .catch(fail)
          .finally(() => open.delete(saving));
        open.add(saving);
      },
      saveWrites: (ns, checkpointId, writes) => store.saveWrites(ns, checkpointId, writes),
    },
  };
}
