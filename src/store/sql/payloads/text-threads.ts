/** P3 The rows that stand for threads in `texts`: 16 bytes of an id would be the larger part of many a row. */
import { rows, type Work } from '../work.ts';
import { insertRow, keepThread, type PayloadStore } from './shared-texts.ts';
import { toStoredId } from './stored-ids.ts';

/** `thread` of the rows of threads. */
export const NO_THREAD = 0;

/** SQL for the number of the thread whose stored id the parameter `@thread` has; NULL when it has no rows. */
export const THREAD = `(SELECT own.id FROM texts AS own
  WHERE own.thread = ${NO_THREAD} AND own.kind = 't' AND own.ns = '' AND own.name = @thread)`;

/** A number that no row has as its thread, when the thread has no rows. */
export function* findThread(threadId: string): Work<number> {
  const [row]: { id: number }[] = yield rows(
    "SELECT id FROM texts WHERE thread = ? AND kind = 't' AND ns = '' AND name = ?",
    [NO_THREAD, toStoredId(threadId)],
  );
  return row?.id ?? -1;
}

/** The thread's row, which is written if there is none, and stays until the commit. */
export function* threadOf(store: PayloadStore, threadId: string): Work<number> {
  const { context, held } = store;
  const known = held.thread(threadId);
  if (known !== undefined) {
    yield* keepThread(store, known);
    return known;
  }
  const place = { thread: NO_THREAD, kind: 't', ns: '', name: toStoredId(threadId), version: '' } as const;
  const columns = { bases: null, size: null, ...context.coder.columns('') };
  const id = yield* insertRow(store, place, columns, !store.asks && held.isNew(threadId));
  const thread = id ?? (yield* findThread(threadId));
  if (id !== undefined) held.begin(threadId);
  else yield* keepThread(store, thread);
  held.setThread(threadId, thread);
  return thread;
}
