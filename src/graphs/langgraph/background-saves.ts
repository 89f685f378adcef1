/**
 * A checkpoint store whose `save` resolves at once. With asynchronous durability the runtime queues checkpoints behind a
 * pending save, and a stop would lose the queued ones.
 */
import type { AttemptStore } from '../attempt.ts';

export interface BackgroundSaves {
  /** `save` resolves at once; reads wait for the pending saves. */
  readonly store: AttemptStore;
  /** Resolves when the server has accepted all saves. */
  settled(): Promise<void>;
}

/** `fail` is called with the error of a refused save. */
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
