/** Cache of thread actors, one cell per thread. Cells without work can be evicted and are reloaded from the log. */
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { ThreadActor } from './thread-actor.ts';

/** Accessed only by work in the cell's own mailbox. */
export interface ActorCell {
  /** Undefined until it is loaded. */
  actor: ThreadActor | undefined;
}

export interface ThreadRegistry {
  /** Runs work on one thread sequentially. */
  post<T>(threadId: string, work: (cell: ActorCell) => Promise<T>): Promise<T>;
}

/** `capacity`: number of idle cells that are kept. */
export function createThreadRegistry(capacity: number): ThreadRegistry {
  // Ordered by last use, oldest first.
  const cells = new Map<string, ActorCell & { readonly mailbox: Mailbox }>();

  /**
   * Evicts 1/16 of the capacity at once: each search for a map's first entry walks over all entries deleted before it.
   */
  function evict(): void {
    const rest = capacity - (capacity >> 4);
    for (const [threadId, cell] of cells) {
      if (cells.size <= rest) return;
      if (!cell.mailbox.idle) continue;
      cell.actor?.stop();
      cells.delete(threadId);
    }
  }

  return {
    post(threadId, work) {
      const cell = cells.get(threadId) ?? { mailbox: createMailbox(), actor: undefined };
      cells.delete(threadId);
      cells.set(threadId, cell);
      // The post precedes the eviction, so the cell in use is never idle and never evicted.
      const done = cell.mailbox.post(() => work(cell));
      if (cells.size > capacity) evict();
      return done;
    },
  };
}
