/** P3 The rows that stand for threads in `texts`: 16 bytes of an id would be the larger part of many a row. */
import type { Prepare } from '../statements.ts';
import type { HeldTexts } from './held-texts.ts';
import { toStoredId } from './tables.ts';

/** `thread` of the rows of threads. */
const NO_THREAD = 0;

/** A number that no row has as its thread, when the thread has no rows. */
export const findThread = (prepare: Prepare, threadId: string): number =>
  (prepare("SELECT id FROM texts WHERE thread = ? AND kind = 't' AND ns = '' AND name = ?")
    .pluck()
    .get(NO_THREAD, toStoredId(threadId)) as number | undefined) ?? -1;

/** The thread's row, which is written if there is none. */
export function threadOf(prepare: Prepare, held: HeldTexts, threadId: string): number {
  return held.thread(threadId, () => {
    const { changes, lastInsertRowid } = prepare(
      `INSERT INTO texts (thread, kind, ns, name, version, data, crc)
       VALUES (@thread, 't', '', @name, '', @data, @crc) ON CONFLICT DO NOTHING`,
    ).run({ thread: NO_THREAD, name: toStoredId(threadId), ...prepare.coder.columns('') });
    if (changes === 0) return findThread(prepare, threadId);
    held.newThreads.add(threadId);
    return Number(lastInsertRowid);
  });
}
