/** P3 The rows that stand for threads in `texts`: 16 bytes of an id would be the larger part of many a row. */
import { rows, type Work } from '../work.ts';
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
