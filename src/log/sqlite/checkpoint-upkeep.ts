/**
 * Checkpoints that vanish or are copied, inside the commit's transaction.
 *
 * P3 Values are shared: between checkpoints by their version, between values by what they have in common. So the
 * checkpoints go first, and then every value that none of the others refers to; what leaned on one is made whole
 * before. No checkpoint that stays reads differently afterwards.
 */
import type { PayloadWrite } from '../payloads.ts';
import { dropChannel, makeWhole } from './channel-store.ts';
import { findThread, forgetNames, threadKey } from './checkpoint-tables.ts';
import { joinParts, packCheckpoint, unpackCheckpoint, type PackedCheckpoint } from './checkpoint-text.ts';
import type { Prepare } from './statements.ts';

type Write<K extends PayloadWrite['kind']> = Extract<PayloadWrite, { kind: K }>;

/** Compares with places given as JSON. */
const KEPT = `(ns, checkpoint_id) IN
  (SELECT value ->> 'ns', value ->> 'checkpointId' FROM json_each(@kept))`;

export function forgetCheckpoints(
  prepare: Prepare,
  { threadId, runId, kept }: Write<'forget-checkpoints'>,
): void {
  const params = { threadId, runId, kept: JSON.stringify(kept) };
  prepare(
    `DELETE FROM write_rows WHERE id IN
       (SELECT id FROM checkpoint_writes WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT})`,
  ).run(params);
  prepare(
    `DELETE FROM checkpoint_rows WHERE id IN
       (SELECT seq FROM checkpoints WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT})`,
  ).run(params);
  collect(prepare, threadId);
}

export function keepCheckpoints(prepare: Prepare, { threadId, kept }: Write<'keep-checkpoints'>): void {
  prepare(
    `DELETE FROM checkpoint_rows WHERE id IN
       (SELECT seq FROM checkpoints WHERE thread_id = @threadId AND NOT ${KEPT})`,
  ).run({ threadId, kept: JSON.stringify(kept) });
  collect(prepare, threadId);
}

interface BlobKey {
  readonly id: number;
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly base: string | null;
}

/** What nothing refers to: writes on checkpoints that are gone, values, and names. */
function collect(prepare: Prepare, threadId: string): void {
  const thread = findThread(prepare, threadId);
  if (thread === undefined) return;
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
  for (const row of left)
    for (const [channel, version] of Object.entries(
      JSON.parse(unpackCheckpoint(row).versions) as Record<string, string>,
    ))
      used.add(keyOf(row.ns, channel, version));
  const blobs = prepare('SELECT id, ns, channel, version, base FROM blob_rows WHERE thread = ?').all(
    thread,
  ) as BlobKey[];
  const isUsed = ({ ns, channel, version }: BlobKey): boolean => used.has(keyOf(ns, channel, version));
  for (const blob of blobs)
    if (isUsed(blob) && blob.base !== null && !used.has(keyOf(blob.ns, blob.channel, blob.base)))
      makeWhole(prepare, { threadId, ns: blob.ns }, blob);
  for (const blob of blobs) if (!isUsed(blob)) dropChannel(prepare, blob.id);
  forgetNames(prepare, thread);
}

/** Ids and order stay; the thread's id within the metadata becomes the new one. */
export function copyCheckpoints(prepare: Prepare, { from, threadId }: Write<'copy-checkpoints'>): void {
  const source = findThread(prepare, from);
  if (source === undefined) return;
  const thread = threadKey(prepare, threadId);
  const params = { source, thread };
  const named = (column: string): string =>
    `(SELECT id FROM checkpoint_names WHERE thread = @thread
      AND name = (SELECT name FROM checkpoint_names WHERE id = ${column}))`;
  prepare(
    'INSERT INTO checkpoint_names (thread, name) SELECT @thread, name FROM checkpoint_names WHERE thread = @source',
  ).run(params);
  prepare(
    `INSERT INTO checkpoint_rows (thread, ns, checkpoint, parent, run, at, packed)
     SELECT @thread, ns, ${named('checkpoint')}, ${named('parent')}, ${named('run')}, at, packed
     FROM checkpoint_rows WHERE thread = @source ORDER BY id`,
  ).run(params);
  prepare(
    `INSERT INTO blob_rows (thread, ns, channel, version, run, base, kept, anchor, data)
     SELECT @thread, ns, channel, version, ${named('run')}, base, kept, anchor, data
     FROM blob_rows WHERE thread = @source`,
  ).run(params);
  prepare(
    `INSERT INTO write_rows (ns, checkpoint, task, idx, run, channel, base, head, start, kept, data)
     SELECT written.ns, ${named('checkpoint')}, task, idx, ${named('written.run')}, written.channel,
       copied.id, head, start, written.kept, written.data
     FROM write_rows AS written LEFT JOIN blob_rows AS blob ON blob.id = written.base
     LEFT JOIN blob_rows AS copied ON copied.thread = @thread AND copied.ns = blob.ns
       AND copied.channel = blob.channel AND copied.version = blob.version
     WHERE checkpoint IN (SELECT id FROM checkpoint_names WHERE thread = @source)`,
  ).run(params);
  const copies = prepare('SELECT * FROM checkpoints WHERE thread_id = ?').all(
    threadId,
  ) as (PackedCheckpoint & { seq: number })[];
  for (const row of copies) {
    // It was packed with the ids of the other row.
    const parts = unpackCheckpoint({ ...row, thread_id: from });
    const metadata = prepare(`SELECT json_replace(?, '$.thread_id', ?)`)
      .pluck()
      .get(parts.metadata, threadId) as string;
    prepare('UPDATE checkpoint_rows SET packed = ? WHERE id = ?').run(
      packCheckpoint(row, joinParts({ ...parts, metadata })),
      row.seq,
    );
  }
}
