/**
 * Checkpoints that vanish or are copied, inside the commit's transaction.
 *
 * P3 Values are shared: between checkpoints by their version, between values by what they have in common. So the
 * checkpoints go first, and then every value that none of the others refers to; what leaned on one is made whole
 * before. No checkpoint that stays reads differently afterwards.
 */
import type { PayloadWrite } from '../payloads.ts';
import { dropChannel, makeWhole } from './channel-store.ts';
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
    `DELETE FROM checkpoint_writes WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT}`,
  ).run(params);
  prepare(`DELETE FROM checkpoints WHERE thread_id = @threadId AND run_id = @runId AND NOT ${KEPT}`).run(
    params,
  );
  collect(prepare, threadId);
}

export function keepCheckpoints(prepare: Prepare, { threadId, kept }: Write<'keep-checkpoints'>): void {
  const params = { threadId, kept: JSON.stringify(kept) };
  prepare(`DELETE FROM checkpoints WHERE thread_id = @threadId AND NOT ${KEPT}`).run(params);
  collect(prepare, threadId);
}

/** What nothing refers to: writes on checkpoints that are gone, and values. */
function collect(prepare: Prepare, threadId: string): void {
  prepare(
    `DELETE FROM checkpoint_writes WHERE thread_id = @threadId AND (ns, checkpoint_id) NOT IN
       (SELECT ns, checkpoint_id FROM checkpoints WHERE thread_id = @threadId)`,
  ).run({ threadId });
  const unused = prepare(
    `SELECT ns, channel, version FROM channel_blobs WHERE thread_id = @threadId
       AND (ns, channel, version) NOT IN
         (SELECT ns, channels.key, channels.value FROM checkpoints, json_each(channel_versions) AS channels
          WHERE thread_id = @threadId)`,
  ).all({ threadId }) as { ns: string; channel: string; version: string }[];
  const keyOf = (ns: string, channel: string, version: string): string =>
    JSON.stringify([ns, channel, version]);
  const gone = new Set(unused.map(({ ns, channel, version }) => keyOf(ns, channel, version)));
  const leaning = prepare(
    `SELECT ns, channel, version, base FROM channel_blobs
     WHERE thread_id = @threadId AND base IS NOT NULL`,
  ).all({ threadId }) as { ns: string; channel: string; version: string; base: string }[];
  for (const { ns, channel, version, base } of leaning)
    if (gone.has(keyOf(ns, channel, base)) && !gone.has(keyOf(ns, channel, version)))
      makeWhole(prepare, { threadId, ns }, channel, version);
  for (const { ns, channel, version } of unused) dropChannel(prepare, { threadId, ns }, channel, version);
}

/** Ids and order stay; the thread's id within the metadata becomes the new one. */
export function copyCheckpoints(prepare: Prepare, { from, threadId }: Write<'copy-checkpoints'>): void {
  const params = { from, threadId };
  prepare(
    `INSERT INTO checkpoints SELECT @threadId, ns, checkpoint_id, parent_id, run_id, at, body,
       json_replace(metadata, '$.thread_id', @threadId), channel_versions, value_channels, seq
     FROM checkpoints WHERE thread_id = @from`,
  ).run(params);
  prepare(
    `INSERT INTO channel_blobs SELECT @threadId, ns, channel, version, run_id, base, kept, depth, anchor, data
     FROM channel_blobs WHERE thread_id = @from`,
  ).run(params);
  prepare(
    `INSERT INTO checkpoint_writes SELECT @threadId, ns, checkpoint_id, task_id, idx, run_id, channel, data
     FROM checkpoint_writes WHERE thread_id = @from`,
  ).run(params);
}
