/**
 * Rows of checkpoints, written inside the commit's transaction. P3 The text of one is kept as what differs from an
 * earlier one of its thread and namespace. Before that row goes or changes, what leans on it is packed anew.
 */
import type { Stored } from '../../sql/coder.ts';

import type { PayloadWrite } from '../../port/payloads.ts';
import { writeChannel } from './channel-store.ts';
import type { CheckpointKeys } from './checkpoint-keys.ts';
import {
  isLong,
  joinParts,
  MARK,
  openTexts,
  packAgainst,
  packWhole,
  readWhole,
  type PackedCheckpoint,
} from './checkpoint-text.ts';
import { opened, type Prepare } from '../statements.ts';
import { toBase } from './token-difference.ts';
import { leanWrites } from './write-store.ts';

/** A difference that takes more than this part of its text is better made from another base. */
const DEAR = 1 / 5;

export interface NewCheckpoint {
  readonly threadId: string;
  readonly runId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly at: number;
  readonly lastFrame: number | null;
  readonly text: string;
}

type CheckpointWrite = Extract<PayloadWrite, { kind: 'checkpoint' }>;

export function writeCheckpoint(
  prepare: Prepare,
  keys: CheckpointKeys,
  { threadId, runId, checkpoint, lastFrame, at: savedAt }: CheckpointWrite,
  at: number,
): void {
  const { ns, checkpointId, parentId, body } = checkpoint;
  const text = joinParts({
    metadata: JSON.stringify(checkpoint.metadata),
    versions: JSON.stringify(checkpoint.channelVersions),
    valueChannels: JSON.stringify(checkpoint.valueChannels),
    body,
  });
  writeRow(prepare, keys, {
    ...{ threadId, runId, ns, checkpointId, parentId },
    at: savedAt ?? at,
    lastFrame: lastFrame ?? null,
    text,
  });
  const thread = keys.thread(threadId);
  const run = keys.name(thread, runId);
  for (const blob of checkpoint.blobs) {
    const value = writeChannel(prepare, keys, { thread, ns }, blob, run);
    if (value !== undefined && parentId !== null)
      leanWrites(prepare, { ns, parent: keys.name(thread, parentId) }, value);
  }
}

export function writeValues(
  prepare: Prepare,
  keys: CheckpointKeys,
  { threadId, runId, ns, values }: Extract<PayloadWrite, { kind: 'channel-values' }>,
): void {
  const thread = keys.thread(threadId);
  const run = keys.name(thread, runId);
  for (const value of values) writeChannel(prepare, keys, { thread, ns }, value, run);
}

export function writeRow(prepare: Prepare, keys: CheckpointKeys, saved: NewCheckpoint): void {
  const { threadId, ns, at } = saved;
  const thread = keys.thread(threadId);
  const checkpoint = keys.name(thread, saved.checkpointId);
  const { changes } = prepare(
    `INSERT INTO checkpoint_rows (thread, ns, checkpoint, parent, run, at, last_frame, packed, crc, base)
     VALUES (@thread, @ns, @checkpoint, @parent, @run, @at, @lastFrame, @data, @crc, @base) ON CONFLICT DO NOTHING`,
  ).run({
    thread,
    ns,
    checkpoint,
    at,
    lastFrame: saved.lastFrame,
    parent: saved.parentId === null ? null : keys.name(thread, saved.parentId),
    run: keys.name(thread, saved.runId),
    ...sealed(prepare, pack(prepare, keys, thread, saved)),
  });
  if (changes > 0) return;
  // It was there, and keeps its ids.
  const id = prepare('SELECT id FROM checkpoint_rows WHERE checkpoint = ? AND ns = ?')
    .pluck()
    .get(checkpoint, ns) as number;
  packLeaningAnew(prepare, keys, thread, [id]);
  prepare(
    'UPDATE checkpoint_rows SET packed = @data, crc = @crc, base = NULL, last_frame = @lastFrame WHERE id = @id',
  ).run({ id, ...prepare.coder.columns(packWhole(saved.text)), lastFrame: saved.lastFrame });
}

const sealed = ({ coder }: Prepare, { packed, base }: { packed: string; base: number | null }) => ({
  ...coder.columns(packed),
  base,
});

/** What this row differs from is what the row before it does, unless that takes too much; a lone one is not replaced. */
function pack(
  prepare: Prepare,
  keys: CheckpointKeys,
  thread: number,
  { threadId, runId, ns, checkpointId, parentId, text }: NewCheckpoint,
): { packed: string; base: number | null } {
  const last = prepare(
    `SELECT id, base, iif(base IS NULL, substr(${opened('packed')}, 1, 1), NULL) AS mark FROM checkpoint_rows
     WHERE thread = ? AND ns = ? ORDER BY id DESC LIMIT 1`,
  ).get(thread, ns) as { id: number; base: number | null; mark: string | null } | undefined;
  if (last === undefined || (last.base === null && last.mark !== MARK) || isLong(text))
    return { packed: packWhole(text), base: null };
  const row = last.base ?? last.id;
  const base = keys.base(row, () => {
    const packed = prepare('SELECT packed FROM checkpoint_rows WHERE id = ?').pluck().get(row) as Stored;
    return readWhole(prepare.coder.open(packed));
  });
  const ids = { thread_id: threadId, run_id: runId, parent_id: parentId, checkpoint_id: checkpointId };
  const packed = packAgainst(base, ids, text);
  const isDear = last.base !== null && packed.length > text.length * DEAR;
  return isDear ? { packed: packWhole(text), base: null } : { packed, base: row };
}

/** Comes before rows of the thread go or change; their own texts are as before. */
export function packLeaningAnew(
  prepare: Prepare,
  keys: CheckpointKeys,
  thread: number,
  rows: readonly number[],
): void {
  keys.forget();
  const going = JSON.stringify(rows);
  const leaning = prepare(
    `SELECT seq, checkpoints.*, (SELECT base FROM checkpoint_rows WHERE id = seq) AS row FROM checkpoints
     WHERE seq IN (SELECT id FROM checkpoint_rows WHERE thread = @thread
       AND base IN (SELECT value FROM json_each(@going)) AND id NOT IN (SELECT value FROM json_each(@going)))
     ORDER BY seq`,
  ).all({ thread, going }) as (PackedCheckpoint & { seq: number; row: number })[];
  const update = prepare(
    'UPDATE checkpoint_rows SET packed = @data, crc = @crc, base = @base WHERE id = @id',
  );
  for (const [, group] of groupByRow(leaning)) {
    const texts = group.map(openTexts(prepare.coder));
    const base = toBase(texts[0]!);
    group.forEach((row, index) => {
      const text = texts[index]!;
      const packed = index === 0 ? packWhole(text) : packAgainst(base, row, text);
      update.run({ id: row.seq, ...sealed(prepare, { packed, base: index === 0 ? null : group[0]!.seq }) });
    });
  }
}

function groupByRow<T extends { row: number }>(rows: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.row);
    if (group === undefined) groups.set(row.row, [row]);
    else group.push(row);
  }
  return groups;
}
