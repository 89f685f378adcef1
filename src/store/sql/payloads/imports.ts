/**
 * Imports that are not complete: texts of checkpoints lie under a storage key, frames and other content of runs under
 * the runs' own ids. The commit of the thread's events gives the texts to the thread, by the one row that names it.
 */
import type { PayloadWrite } from '../../port/payloads.ts';
import { rows, some, write as step, type Work, type WorkContext } from '../work.ts';
import type { PayloadStore } from './shared-texts.ts';
import { toStoredId } from './stored-ids.ts';
import { dropRows, eraseTexts } from './text-rows.ts';
import { findThread, NO_THREAD } from './text-threads.ts';

type Write = Extract<PayloadWrite, { kind: 'begin-import' | 'complete-import' | 'erase-import' }>;

/** Throws `RangeError` for the end of an import that was erased. */
export function* writeImport(store: PayloadStore, write: Write, at: number): Work<void> {
  const { storageKey } = write;
  if (write.kind === 'erase-import') return yield* eraseSome(store, storageKey);
  const { threadId } = write;
  if (write.kind === 'begin-import') {
    yield step('INSERT INTO imports VALUES (@storageKey, @threadId, @at)', { storageKey, threadId, at });
    return;
  }
  yield some(FORGET, [storageKey], () => new RangeError(`the import of thread ${threadId} was ended`));
  yield step("UPDATE texts SET name = ? WHERE thread = ? AND kind = 't' AND ns = '' AND name = ?", [
    ...[toStoredId(threadId), NO_THREAD, toStoredId(storageKey)],
  ]);
  store.held.forget();
}

const FORGET = 'DELETE FROM imports WHERE storage_key = ?';

/** A full disk has little room for the commit, and a server has other things to do meanwhile. */
const MAX_ERASED_ROWS = 200;
const MAX_ERASED_BYTES = 1024 ** 2;

/** Newest first: a row may be a difference from an earlier one. */
const someOf = ({ order }: WorkContext, table: string, where: string): string =>
  `SELECT id, octet_length(data) AS bytes FROM ${table}
   WHERE id IN (SELECT id FROM ${table} WHERE ${where} ORDER BY ${order} DESC LIMIT ${MAX_ERASED_ROWS}) ORDER BY ${order} DESC`;

/** Erases a part; the import itself when nothing else is left of it. */
function* eraseSome({ context, held }: PayloadStore, storageKey: string): Work<void> {
  const [found]: readonly { thread_id: string }[] = yield rows(
    'SELECT thread_id FROM imports WHERE storage_key = ?',
    [storageKey],
  );
  if (found === undefined) return;
  const threadId = found.thread_id;
  const [key, id] = [yield* findThread(storageKey), toStoredId(threadId)];
  held.forget();
  let bytes = 0;
  function* take(table: string, where: string, more = ''): Work<Set<number>> {
    const some: readonly { id: number; bytes: number }[] = yield rows(
      `${someOf(context, table, where)} ${more}`,
      { key, id, threadId },
    );
    const taken = some.filter((row) => bytes < MAX_ERASED_BYTES && (bytes += row.bytes) >= 0);
    return new Set(taken.map((row) => row.id));
  }
  const texts = yield* take('texts', 'thread = @key');
  const frames = yield* take(
    'frames',
    `run IN (SELECT run FROM frames
       WHERE thread = @id AND first = 0 AND ${context.shownId('run')} NOT IN (SELECT run_id FROM runs))`,
    context.takeRows,
  );
  const contents = yield* take(
    'run_contents',
    'thread_id = @threadId AND run_id NOT IN (SELECT run_id FROM runs)',
  );
  yield* dropRows(context, 'texts', texts);
  // Another thread that has got the id may have frames which are differences from these.
  const own: readonly unknown[] = yield rows('SELECT 1 FROM runs WHERE thread_id = ? LIMIT 1', [threadId]);
  if (own.length > 0) yield* eraseTexts(context, 'frames', id, frames);
  else yield* dropRows(context, 'frames', frames);
  yield* dropRows(context, 'run_contents', contents);
  if (texts.size + frames.size + contents.size > 0) return;
  yield* dropRows(context, 'texts', new Set([key]));
  yield step(FORGET, [storageKey]);
}
