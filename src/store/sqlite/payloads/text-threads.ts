/** P3 The rows that stand for threads in `texts`: 16 bytes of an id would be the larger part of many a row. */
import type { HeldTexts } from '../../sql/payloads/held-texts.ts';
import { toStoredId } from '../../sql/payloads/stored-ids.ts';
import { findThread, NO_THREAD } from '../../sql/payloads/text-threads.ts';
import type { Prepare } from '../statements.ts';

/** The thread's row, which is written if there is none. */
export function threadOf(prepare: Prepare, held: HeldTexts, threadId: string): number {
  return held.thread(threadId, () => {
    const { changes, lastInsertRowid } = prepare(
      `INSERT INTO texts (thread, kind, ns, name, version, data, crc)
       VALUES (@thread, 't', '', @name, '', @data, @crc) ON CONFLICT DO NOTHING`,
    ).run({ thread: NO_THREAD, name: toStoredId(threadId), ...prepare.coder.columns('') });
    if (changes === 0) return prepare.driver.run(findThread(threadId));
    held.newThreads.add(threadId);
    return Number(lastInsertRowid);
  });
}
