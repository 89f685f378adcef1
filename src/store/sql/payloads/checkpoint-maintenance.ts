/**
 * Checkpoints that vanish or are copied, inside the commit's transaction. P3 Values are shared between checkpoints: with
 * the checkpoints go the writes on them, and every value that none of the others refers to. No checkpoint that stays reads
 * differently afterwards.
 */
import type { CheckpointKey } from '../../../thread/events.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../coder.ts';
import { newIds, rows, write as step, type Work, type WorkContext } from '../work.ts';
import { joinParts, toParts } from './checkpoint-text.ts';
import { writeCheckpointRow } from './checkpoint-store.ts';
import { lockThread, type PayloadStore } from './shared-texts.ts';
import { toId, type StoredId } from './stored-ids.ts';
import { eraseTexts, readTexts } from './text-rows.ts';
import { findThread, threadOf } from './text-threads.ts';

type Write<K extends PayloadWrite['kind']> = Extract<PayloadWrite, { kind: K }>;

interface TextRow {
  readonly id: number;
  readonly kind: 'c' | 'v' | 'w';
  readonly ns: string;
  readonly name: StoredId;
  readonly version: string | null;
  readonly run: StoredId | null;
  readonly parent: StoredId | null;
  readonly at: number;
  readonly bases: string | null;
  readonly data: Stored;
}

/** What is read of each row; `data` of checkpoints only. */
const COLUMNS =
  "id, kind, ns, name, version, run, parent, at, bases, CASE kind WHEN 'c' THEN data ELSE '' END AS data";

/** All rows of the thread's checkpoints, in the order of saving. */
function* rowsOf({ order }: WorkContext, thread: number): Work<readonly TextRow[]> {
  return yield rows(`SELECT ${COLUMNS} FROM texts WHERE thread = ? ORDER BY ${order}`, [thread]);
}

/** Rows whose texts are held at once. */
const WINDOW_ROWS = 256;

/** Reads the text of each row, in their order. */
function inWindows(context: WorkContext, checkpoints: readonly TextRow[]): (row: TextRow) => Work<string> {
  const texts = new Map<TextRow, string>();
  let read = 0;
  return function* (row): Work<string> {
    if (!texts.has(row)) {
      texts.clear();
      const window = checkpoints.slice(read, (read += WINDOW_ROWS));
      const found = yield* readTexts(context, 'texts', window);
      for (const [at, each] of window.entries()) texts.set(each, found[at]!);
    }
    return texts.get(row)!;
  };
}

const keyOf = (ns: string, ...names: readonly (string | null)[]): string => JSON.stringify([ns, ...names]);
const isOneOf = (kept: readonly CheckpointKey[]) => {
  const keys = new Set(kept.map(({ ns, checkpointId }) => keyOf(ns, checkpointId)));
  return ({ ns, name }: TextRow): boolean => keys.has(keyOf(ns, toId(name)));
};

/** The run's checkpoints, and what it wrote on others. */
export function forgetCheckpoints(
  store: PayloadStore,
  { threadId, runId, kept }: Write<'forget-checkpoints'>,
): Work<void> {
  const isKept = isOneOf(kept);
  return collect(store, threadId, (row) => row.kind !== 'v' && toId(row.run!) === runId && !isKept(row));
}

export function keepCheckpoints(
  store: PayloadStore,
  { threadId, kept }: Write<'keep-checkpoints'>,
): Work<void> {
  const isKept = isOneOf(kept);
  return collect(store, threadId, (row) => row.kind === 'c' && !isKept(row));
}

function* collect(store: PayloadStore, threadId: string, isGoing: (row: TextRow) => boolean): Work<void> {
  const { context, held } = store;
  const thread = yield* findThread(threadId);
  yield* lockThread(store, thread, 'takeRows');
  const all = yield* rowsOf(context, thread);
  const gone = new Set(all.filter(isGoing).map(({ id }) => id));
  const used = new Set<string>();
  const kept = all.filter(({ id, kind }) => kind === 'c' && !gone.has(id));
  const textOf = inWindows(context, kept);
  for (const row of kept) {
    const { ns } = row;
    used.add(keyOf(ns, toId(row.name)));
    const versions = JSON.parse(toParts(yield* textOf(row)).versions) as Record<string, string>;
    for (const [channel, version] of Object.entries(versions)) used.add(keyOf(ns, channel, version));
  }
  for (const { id, kind, ns, name, version } of all)
    if (kind !== 'c' && !used.has(kind === 'v' ? keyOf(ns, name as string, version) : keyOf(ns, toId(name))))
      gone.add(id);
  yield* eraseTexts(context, 'texts', thread, gone);
  held.forget();
}

/** Ids and order stay; the thread's id within the metadata becomes the new one. */
export function* copyCheckpoints(
  store: PayloadStore,
  { from, threadId }: Write<'copy-checkpoints'>,
): Work<void> {
  const { context } = store;
  const source = yield* findThread(from);
  yield* lockThread(store, source, 'lockRows');
  const all = yield* rowsOf(context, source);
  const textOf = inWindows(
    context,
    all.filter(({ kind }) => kind === 'c'),
  );
  const copies = new Map<number, number>();
  for (const row of all) {
    if (row.kind !== 'c') {
      const bases = row.bases && (JSON.parse(row.bases) as number[]).map((id) => copies.get(id)!);
      const thread = yield* threadOf(store, threadId);
      const id: number = yield newIds('texts');
      yield step(
        `INSERT INTO texts (id, thread, kind, ns, name, version, run, parts, bases, size, data, crc)
         SELECT @id, @thread, kind, ns, name, version, run, parts, @bases, size, data, crc FROM texts WHERE id = @of`,
        { id, thread, of: row.id, bases: bases && JSON.stringify(bases) },
      );
      copies.set(row.id, id);
      continue;
    }
    const parts = toParts(yield* textOf(row));
    yield* writeCheckpointRow(store, {
      ...{ threadId, ns: row.ns, runId: toId(row.run!), checkpointId: toId(row.name), at: row.at },
      // Frames are not copied.
      ...{ parentId: row.parent === null ? null : toId(row.parent), lastFrame: null },
      text: joinParts({ ...parts, metadata: renamed(parts.metadata, threadId) }),
    });
  }
}

function renamed(metadata: string, threadId: string): string {
  const named = JSON.parse(metadata) as JsonObject;
  return Object.hasOwn(named, 'thread_id') ? JSON.stringify({ ...named, thread_id: threadId }) : metadata;
}
