/**
 * Actors of threads in memory, one cell for each thread. It is a cache: a cell without work may go at any time, and the
 * store brings its thread back.
 */
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { ThreadActor } from './thread-actor.ts';

/** Read and changed in the cell's own mailbox only. */
export interface ActorCell {
  /** Loaded when it is first needed. */
  actor: ThreadActor | undefined;
}

export interface ThreadRegistry {
  /** Work on one thread runs one after the other. */
  post<T>(threadId: string, work: (cell: ActorCell) => Promise<T>): Promise<T>;
}

/** `capacity`: idle cells that stay. */
export function createThreadRegistry(capacity: number): ThreadRegistry {
  // In order of use: the first is the one unused the longest.
  const cells = new Map<string, ActorCell & { readonly mailbox: Mailbox }>();

  /** Evicts a sixteenth more than it must: finding the first entry of a map walks over what was deleted before it. */
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
      // Posted before the eviction, so a cell that is about to be used is never idle.
      const done = cell.mailbox.post(() => work(cell));
      if (cells.size > capacity) evict();
      return done;
    },
  };
}
