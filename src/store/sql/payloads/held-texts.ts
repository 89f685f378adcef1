/**
 * The texts that the next ones will most likely be differences from, and that are most likely read next, as the one writer
 * last wrote them. Bounded; what is forgotten is read again.
 *
 * Danger: what was seen within a transaction that is undone, or before rows went, is wrong. Then all is forgotten.
 */
import { toId } from './stored-ids.ts';
import type { BaseText, CheckpointRow, TextColumns } from './text-rows.ts';

/** Of all texts together, in UTF-16 units. */
const MAX_HELD = 8_000_000;

interface HeldText extends BaseText {
  /** Of a channel's value. */
  readonly version?: string;
  /** Of a namespace's latest checkpoint: its row. */
  readonly row?: Omit<CheckpointRow, keyof TextColumns>;
}

export interface HeldTexts {
  of(key: string): readonly HeldText[];
  /** In the place of what was held under the key. */
  set(key: string, texts: readonly HeldText[]): void;
  /** The number of a thread. */
  thread(threadId: string): number | undefined;
  setThread(threadId: string, thread: number): void;
  /** Whether this writer wrote and holds all rows that the thread has, so that none is looked up. */
  isNew(threadId: string): boolean;
  /** The thread has no rows. */
  begin(threadId: string): void;
  forget(): void;
}

/** Of threads. */
const MAX_THREADS = 5000;

/** No two of them have the same. */
export const heldKey = (kind: string, threadId: string, ns: string, name: string): string =>
  `${kind} ${threadId} ${ns.length} ${ns} ${name}`;

export function createHeldTexts(): HeldTexts {
  const held = new Map<string, readonly HeldText[]>();
  const threads = new Map<string, number>();
  let size = 0;
  const sizeOf = (texts: readonly BaseText[]): number =>
    texts.reduce((sum, { text }) => sum + text.length, 0);
  const newThreads = new Set<string>();
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
        newThreads.delete(oldest.split(' ', 2)[1]!);
      }
    },
    thread: (threadId) => threads.get(threadId),
    setThread(threadId, thread) {
      if (threads.size >= MAX_THREADS) threads.clear();
      threads.set(threadId, thread);
    },
    isNew: (threadId) => newThreads.has(threadId),
    begin(threadId) {
      if (newThreads.size >= MAX_THREADS) newThreads.clear();
      newThreads.add(threadId);
    },
    forget() {
      held.clear();
      threads.clear();
      newThreads.clear();
      size = 0;
    },
  };
}

/** The row of the namespace's latest checkpoint if it is held and has this id, or whatever id without one. */
export function heldCheckpoint(
  held: HeldTexts,
  threadId: string,
  ns: string,
  checkpointId?: string,
): CheckpointRow | undefined {
  const [latest] = held.of(heldKey('c', threadId, ns, ''));
  if (latest?.row === undefined) return undefined;
  if (checkpointId !== undefined && toId(latest.row.name) !== checkpointId) return undefined;
  return { ...latest.row, id: latest.id, bases: null, data: latest.text };
}

export function heldValue(
  held: HeldTexts,
  threadId: string,
  ns: string,
  channel: string,
  version: string,
): string | undefined {
  const [latest] = held.of(heldKey('v', threadId, ns, channel));
  return latest?.version === version ? latest.text : undefined;
}
