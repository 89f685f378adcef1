/**
 * Checkpoints that vanish or are copied, inside the commit's transaction. P3 Values are shared between checkpoints: with
 * the checkpoints go the writes on them, and every value that none of the others refers to. No checkpoint that stays reads
 * differently afterwards.
 */
import type { CheckpointKey } from '../../../thread/events.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../../sql/coder.ts';
import type { Prepare } from '../statements.ts';
import { joinParts, toParts } from '../../sql/payloads/checkpoint-text.ts';
import { writeCheckpointRow, type PayloadStore } from './checkpoint-store.ts';
import { toId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import { eraseTexts, readText, readTexts } from '../../sql/payloads/text-rows.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';
import { threadOf } from './text-threads.ts';

type Write<K extends PayloadWrite['kind']> = Extract<PayloadWrite, { kind: K }>;

interface TextRow {
  readonly id: number;
  readonly kind: 'c' | 'v' | 'w';
  readonly ns: string;
  readonly name: StoredId;
  readonly version: string | null;
  readonly run: StoredId | null;
  readonly bases: string | null;
  readonly data: Stored;
}

/** All rows of the thread's checkpoints, in the order of saving. `columns`: what is read of each. */
const rowsOf = <R>(prepare: Prepare, threadId: string, columns: string): R[] =>
  prepare(`SELECT ${columns} FROM texts WHERE thread = ? ORDER BY id`).all(
    prepare.driver.run(findThread(threadId)),
  ) as R[];

const keyOf = (ns: string, ...names: readonly (string | null)[]): string => JSON.stringify([ns, ...names]);
const isOneOf = (kept: readonly CheckpointKey[]) => {
  const keys = new Set(kept.map(({ ns, checkpointId }) => keyOf(ns, checkpointId)));
  return ({ ns, name }: TextRow): boolean => keys.has(keyOf(ns, toId(name)));
};

/** The run's checkpoints, and what it wrote on others. */
export function forgetCheckpoints(
  store: PayloadStore,
  { threadId, runId, kept }: Write<'forget-checkpoints'>,
): void {
  const isKept = isOneOf(kept);
  collect(store, threadId, (row) => row.kind !== 'v' && toId(row.run!) === runId && !isKept(row));
}

export function keepCheckpoints(store: PayloadStore, { threadId, kept }: Write<'keep-checkpoints'>): void {
  const isKept = isOneOf(kept);
  collect(store, threadId, (row) => row.kind === 'c' && !isKept(row));
}

function collect(
  { prepare, held }: PayloadStore,
  threadId: string,
  isGoing: (row: TextRow) => boolean,
): void {
  const rows = rowsOf<TextRow>(
    prepare,
    threadId,
    "id, kind, ns, name, version, run, bases, iif(kind = 'c', data, '') AS data",
  );
  const gone = new Set(rows.filter(isGoing).map(({ id }) => id));
  const used = new Set<string>();
  const kept = rows.filter(({ id, kind }) => kind === 'c' && !gone.has(id));
  const texts = prepare.driver.run(readTexts(prepare.driver.context, 'texts', kept));
  for (const [at, { ns, name }] of kept.entries()) {
    used.add(keyOf(ns, toId(name)));
    const versions = JSON.parse(toParts(texts[at]!).versions) as Record<string, string>;
    for (const [channel, version] of Object.entries(versions)) used.add(keyOf(ns, channel, version));
  }
  for (const { id, kind, ns, name, version } of rows)
    if (kind !== 'c' && !used.has(kind === 'v' ? keyOf(ns, name as string, version) : keyOf(ns, toId(name))))
      gone.add(id);
  prepare.driver.run(
    eraseTexts(prepare.driver.context, 'texts', prepare.driver.run(findThread(threadId)), gone),
  );
  held.forget();
}

interface CopiedRow extends TextRow {
  readonly parent: StoredId | null;
  readonly at: number;
}

/** Ids and order stay; the thread's id within the metadata becomes the new one. */
export function copyCheckpoints(store: PayloadStore, { from, threadId }: Write<'copy-checkpoints'>): void {
  const { prepare } = store;
  const copies = new Map<number, number>();
  const rename = prepare(`SELECT json_replace(?, '$.thread_id', ?)`).pluck();
  const copy = prepare(
    `INSERT INTO texts (thread, kind, ns, name, version, run, parts, bases, size, data, crc)
     SELECT @thread, kind, ns, name, version, run, parts, @bases, size, data, crc FROM texts WHERE id = @id`,
  );
  for (const row of rowsOf<CopiedRow>(
    prepare,
    from,
    "id, kind, ns, name, run, parent, at, bases, iif(kind = 'c', data, '') AS data",
  )) {
    if (row.kind !== 'c') {
      const bases =
        row.bases === null ? null : (JSON.parse(row.bases) as number[]).map((id) => copies.get(id)!);
      const { lastInsertRowid } = copy.run({
        ...{
          thread: threadOf(prepare, store.held, threadId),
          id: row.id,
          bases: bases && JSON.stringify(bases),
        },
      });
      copies.set(row.id, Number(lastInsertRowid));
      continue;
    }
    const parts = toParts(prepare.driver.run(readText(prepare.driver.context, 'texts', row)));
    writeCheckpointRow(store, {
      ...{ threadId, ns: row.ns, runId: toId(row.run!), checkpointId: toId(row.name), at: row.at },
      // Frames are not copied.
      ...{ parentId: row.parent === null ? null : toId(row.parent), lastFrame: null },
      text: joinParts({ ...parts, metadata: rename.get(parts.metadata, threadId) as string }),
    });
  }
}
