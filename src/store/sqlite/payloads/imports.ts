/**
 * Imports that are not complete: texts of checkpoints lie under a storage key, frames and other content of runs under
 * the runs' own ids. The commit of the thread's events gives the texts to the thread, by the one row that names it.
 */
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import type { PayloadStore } from './checkpoint-store.ts';
import { toStoredId } from '../../sql/payloads/stored-ids.ts';
import { eraseTexts } from '../../sql/payloads/text-rows.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';

export const IMPORTS = `
CREATE TABLE imports (storage_key TEXT PRIMARY KEY, thread_id TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

type Write = Extract<PayloadWrite, { kind: 'begin-import' | 'complete-import' | 'erase-import' }>;

/** Throws `RangeError` for the end of an import that was erased. */
export function writeImport(store: PayloadStore, write: Write, at: number): void {
  const { prepare, held } = store;
  const { storageKey } = write;
  if (write.kind === 'erase-import') return eraseSome(store, storageKey);
  const { threadId } = write;
  if (write.kind === 'begin-import') {
    prepare('INSERT INTO imports VALUES (@storageKey, @threadId, @at)').run({ storageKey, threadId, at });
    return;
  }
  if (!forget(prepare, storageKey)) throw new RangeError(`the import of thread ${threadId} was ended`);
  const [id, name] = [prepare.driver.run(findThread(storageKey)), toStoredId(threadId)];
  prepare('UPDATE texts SET name = ? WHERE id = ?').run(name, id);
  held.forget();
}

const forget = (prepare: Prepare, storageKey: string): boolean =>
  prepare('DELETE FROM imports WHERE storage_key = ?').run(storageKey).changes > 0;

/** A full disk has little room for the commit, and a server has other things to do meanwhile. */
const MAX_ERASED_ROWS = 200;
const MAX_ERASED_BYTES = 1024 ** 2;

/** Newest first: a row may be a difference from an earlier one. */
const someOf = (table: string, where: string): string =>
  `SELECT id, octet_length(data) AS bytes FROM ${table}
   WHERE id IN (SELECT id FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${MAX_ERASED_ROWS}) ORDER BY id DESC`;

const TEXTS = someOf('texts', 'thread = @key');
const FRAMES = someOf(
  'frames',
  `run IN (SELECT run FROM frames
     WHERE thread = @id AND first = 0 AND shown_id(run) NOT IN (SELECT run_id FROM runs))`,
);
const RUN_CONTENTS = someOf(
  'run_contents',
  'thread_id = @threadId AND run_id NOT IN (SELECT run_id FROM runs)',
);

/** Erases a part; the import itself when nothing else is left of it. */
function eraseSome({ prepare, held }: PayloadStore, storageKey: string): void {
  const threadId = prepare('SELECT thread_id FROM imports WHERE storage_key = ?').pluck().get(storageKey) as
    string | undefined;
  if (threadId === undefined) return;
  const [key, id] = [prepare.driver.run(findThread(storageKey)), toStoredId(threadId)];
  held.forget();
  let bytes = 0;
  const take = (sql: string): Set<number> => {
    const rows = prepare(sql).all({ key, id, threadId }) as { id: number; bytes: number }[];
    const taken = rows.filter((row) => bytes < MAX_ERASED_BYTES && (bytes += row.bytes) >= 0);
    return new Set(taken.map((row) => row.id));
  };
  const drop = (table: string, ids: Set<number>): void => {
    for (const row of ids) prepare(`DELETE FROM ${table} WHERE id = ?`).run(row);
  };
  const [texts, frames, contents] = [take(TEXTS), take(FRAMES), take(RUN_CONTENTS)];
  drop('texts', texts);
  // Another thread that has got the id may have frames which are differences from these.
  if (prepare('SELECT 1 FROM runs WHERE thread_id = ?').get(threadId))
    prepare.driver.run(eraseTexts(prepare.driver.context, 'frames', id, frames));
  else drop('frames', frames);
  drop('run_contents', contents);
  if (texts.size + frames.size + contents.size > 0) return;
  drop('texts', new Set([key]));
  forget(prepare, storageKey);
}
