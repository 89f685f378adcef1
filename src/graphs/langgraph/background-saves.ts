/**
 * A checkpoint store whose writes resolve at once. With asynchronous durability the runtime queues checkpoints behind a
 * pending save, and a stop would lose the queued ones. The time that the server takes would also change the order of
 * parallel subgraphs.
 */
import type { AttemptStore } from '../attempt.ts';

export interface BackgroundSaves {
  /** Writes resolve at once unless too many are pending; reads wait for the pending writes. */
  readonly store: AttemptStore;
  /** Resolves when the server has accepted all writes. */
  settled(): Promise<void>;
}

/** Pending writes of tasks, in UTF-16 code units, above which the runtime waits for the server. */
const MAX_PENDING_UTF16_UNITS = 1_000_000;

/** `fail` is called with the error of a refused write. */
export function openBackgroundSaves(store: AttemptStore, fail: (error: unknown) => void): BackgroundSaves {
  const open = new Set<Promise<void>>();
  let units = 0;
  const settled = async (): Promise<void> => void (await Promise.all(open));
  function keep(write: Promise<void>, size = 0): void {
    units += size;
    const end = (): void => {
      units -= size;
      open.delete(writing);
    };
    const writing: Promise<void> = write.then(end, (error: unknown) => {
      fail(error);
      end();
    });
    open.add(writing);
  }
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
        keep(store.save(checkpoint, made));
      },
      async saveWrites(ns, checkpointId, writes) {
        keep(
          store.saveWrites(ns, checkpointId, writes),
          writes.reduce((sum, { data }) => sum + data.length, 0),
        );
        if (units > MAX_PENDING_UTF16_UNITS) await settled();
      },
    },
  };
}
