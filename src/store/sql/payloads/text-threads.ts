/** P3 The rows that stand for threads in `texts`: 16 bytes of an id would be the larger part of many a row. */
import { count, newIds, rows, type Work } from '../work.ts';
import { keepThread, type PayloadStore } from './shared-texts.ts';
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
  const id: number = yield newIds('texts');
  const changes: number = yield count(
    `INSERT INTO texts (id, thread, kind, ns, name, version, data, crc)
     VALUES (@id, @thread, 't', '', @name, '', @data, @crc) ON CONFLICT DO NOTHING`,
    { id, thread: NO_THREAD, name: toStoredId(threadId), ...context.coder.columns('') },
  );
  const thread = changes > 0 ? id : yield* findThread(threadId);
  if (changes > 0) held.newThreads.add(threadId);
  else yield* keepThread(store, thread);
  held.setThread(threadId, thread);
  return thread;
}
