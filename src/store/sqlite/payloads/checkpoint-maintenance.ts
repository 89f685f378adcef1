/**
 * Checkpoints that vanish or are copied, inside the commit's transaction.
 *
 * P3 Values are shared: between checkpoints by their version, between values by what they have in common. So the
 * checkpoints go first, and then every value that none of the others refers to; what leaned on one is made whole
 * before. No checkpoint that stays reads differently afterwards.
 */
import type { PayloadWrite } from '../../port/payloads.ts';
import { dropChannel, makeWhole } from './channel-store.ts';
import type { CheckpointKeys } from './checkpoint-keys.ts';
import { packLeaningAnew, writeRow } from './checkpoint-store.ts';
import { baseRow, baseVersion, findThread, forgetNames } from './checkpoint-tables.ts';
import { joinParts, openCheckpoints, type PackedCheckpoint } from './checkpoint-text.ts';
import type { Prepare } from '../statements.ts';

type Write<K extends PayloadWrite['kind']> = Extract<PayloadWrite, { kind: K }>;

/** Compares with places given as JSON. */
const KEPT = `(ns, checkpoint_id) IN
  (SELECT value ->> 'ns', value ->> 'checkpointId' FROM json_each(@kept))`;

export function forgetCheckpoints(
  prepare: Prepare,
  keys: CheckpointKeys,
  { threadId, runId, kept }: Write<'forget-checkpoints'>,
): void {
  const params = { threadId, runId, kept: JSON.stringify(kept) };
  prepare(
    `DELETE FROM write_rows WHERE id IN
       (SELECT id FROM checkpoint_writes WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT})`,
  ).run(params);
  const going = prepare(
    `SELECT seq FROM checkpoints WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT}`,
  )
    .pluck()
    .all(params) as number[];
  collect(prepare, keys, threadId, going);
}

export function keepCheckpoints(
  prepare: Prepare,
  keys: CheckpointKeys,
  { threadId, kept }: Write<'keep-checkpoints'>,
): void {
  const going = prepare(`SELECT seq FROM checkpoints WHERE thread_id = @threadId AND NOT ${KEPT}`)
    .pluck()
    .all({ threadId, kept: JSON.stringify(kept) }) as number[];
  collect(prepare, keys, threadId, going);
}

interface BlobKey {
  readonly id: number;
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly base: string | null;
}

/** The checkpoints of these rows, and what nothing refers to without them: writes on them, values, and names. */
function collect(prepare: Prepare, keys: CheckpointKeys, threadId: string, going: readonly number[]): void {
  const thread = findThread(prepare, threadId);
  if (thread === undefined) return;
  packLeaningAnew(prepare, keys, thread, going);
  const drop = prepare('DELETE FROM checkpoint_rows WHERE id = ?');
  for (const id of going) drop.run(id);
  prepare(
    `DELETE FROM write_rows
     WHERE checkpoint IN (SELECT id FROM checkpoint_names WHERE thread = @thread) AND (ns, checkpoint) NOT IN
       (SELECT ns, checkpoint FROM checkpoint_rows WHERE thread = @thread)`,
  ).run({ thread });
  const keyOf = (ns: string, channel: string, version: string): string =>
    JSON.stringify([ns, channel, version]);
  const used = new Set<string>();
  const left = prepare('SELECT * FROM checkpoints WHERE thread_id = ?').iterate(threadId) as IterableIterator<
    PackedCheckpoint & { ns: string }
  >;
  const unpack = openCheckpoints(prepare.coder);
  for (const row of left)
    for (const [channel, version] of Object.entries(
      JSON.parse(unpack(row).versions) as Record<string, string>,
    ))
      used.add(keyOf(row.ns, channel, version));
  const blobs = prepare(
    `SELECT id, ns, channel, version, ${baseVersion('blob')} AS base FROM blob_rows AS blob WHERE thread = ?
     ORDER BY rest IS NULL, id`,
  ).all(thread) as BlobKey[];
  const isUsed = ({ ns, channel, version }: BlobKey): boolean => used.has(keyOf(ns, channel, version));
  for (const blob of blobs)
    if (isUsed(blob) && blob.base !== null && !used.has(keyOf(blob.ns, blob.channel, blob.base)))
      makeWhole(prepare, { thread, ns: blob.ns }, blob);
  // Inputs come before what they lean on, which would else make them whole first.
  for (const blob of blobs) if (!isUsed(blob)) dropChannel(prepare, blob.id);
  forgetNames(prepare, thread);
  keys.forget();
}

/** Ids and order stay; the thread's id within the metadata becomes the new one. */
export function copyCheckpoints(
  prepare: Prepare,
  keys: CheckpointKeys,
  { from, threadId }: Write<'copy-checkpoints'>,
): void {
  const source = findThread(prepare, from);
  if (source === undefined) return;
  const thread = keys.thread(threadId);
  const params = { source, thread };
  const named = (column: string): string =>
    `(SELECT id FROM checkpoint_names WHERE thread = @thread
      AND name = (SELECT name FROM checkpoint_names WHERE id = ${column}))`;
  prepare(
    'INSERT INTO checkpoint_names (thread, name) SELECT @thread, name FROM checkpoint_names WHERE thread = @source',
  ).run(params);
  copyTexts(prepare, keys, from, threadId);
  prepare(
    `INSERT INTO blob_rows (thread, ns, channel, version, run, base, kept, anchor, data, crc, rest, head, start)
     SELECT @thread, ns, channel, version, ${named('run')}, base, kept, anchor, data, crc, rest, head, start
     FROM blob_rows WHERE thread = @source`,
  ).run(params);
  const copied = (row: string): string =>
    `(SELECT copied.id FROM blob_rows AS blob JOIN blob_rows AS copied ON copied.thread = @thread
        AND copied.ns = blob.ns AND copied.channel = blob.channel AND copied.version = blob.version
      WHERE blob.id = ${row})`;
  prepare(
    `UPDATE blob_rows SET rest = ${copied('blob_rows.rest')} WHERE thread = @thread AND rest IS NOT NULL`,
  ).run({ thread });
  prepare(
    `UPDATE blob_rows SET base = '#' || ${copied(baseRow('blob_rows'))}
     WHERE thread = @thread AND base GLOB '#*'`,
  ).run({ thread });
  prepare(
    `INSERT INTO write_rows (ns, checkpoint, task, task_path, idx, run, channel, base, head, start, kept, data, crc)
     SELECT ns, ${named('checkpoint')}, task, task_path, idx, ${named('run')}, channel, ${copied('written.base')},
       head, start, kept, data, crc
     FROM write_rows AS written
     WHERE checkpoint IN (SELECT id FROM checkpoint_names WHERE thread = @source)`,
  ).run(params);
}

/** They speak of the thread. */
function copyTexts(prepare: Prepare, keys: CheckpointKeys, from: string, threadId: string): void {
  const rename = prepare(`SELECT json_replace(?, '$.thread_id', ?)`).pluck();
  const rows = prepare('SELECT * FROM checkpoints WHERE thread_id = ? ORDER BY seq').all(
    from,
  ) as (PackedCheckpoint & { ns: string; at: number })[];
  const unpack = openCheckpoints(prepare.coder);
  for (const row of rows) {
    const parts = unpack(row);
    writeRow(prepare, keys, {
      // Frames are not copied.
      ...{ threadId, ns: row.ns, at: row.at, lastFrame: null },
      ...{ runId: row.run_id, checkpointId: row.checkpoint_id, parentId: row.parent_id },
      text: joinParts({ ...parts, metadata: rename.get(parts.metadata, threadId) as string }),
    });
  }
}
