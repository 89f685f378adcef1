/**
 * Reads all payloads of one thread in the form in which they are stored, so an export costs what the thread occupies
 * and not what all its texts would take in full. For a connection of its own in a read transaction.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Stored } from '../../sql/coder.ts';
import type {
  SourceCheckpoint,
  SourceFrame,
  SourcePayload,
  SourceText,
  SourceValue,
  SourceWrite,
  ThreadSource,
} from '../../port/thread-source.ts';
import { readChannel } from './channel-store.ts';
import { findThread, idOf, toId } from './checkpoint-tables.ts';
import { openCheckpoints, type PackedCheckpoint } from './checkpoint-text.ts';
import { openConnection } from '../connection.ts';
import { readStream } from '../event-store.ts';
import { ALONE, readFrameText } from './frame-store.ts';
import { findTail, readTail } from './frame-tail.ts';
import { openCoder, type EncryptionKeys } from '../keyring.ts';
import { LOG_FILE } from '../log.ts';
import { assertSchema } from '../schema.ts';
import { createStatements, type Prepare } from '../statements.ts';
import { readUntracked } from './untracked-values.ts';
import { fill } from './write-store.ts';

/** Frames that are read at once. */
const PAGE_FRAMES = 100;
/** Of a base that is a row's number (channel-store.ts). */
const ROW_MARK = '#';

/** Opens the source of a thread in the log of a data directory, beside a running server too. */
export function openThreadSource(dir: string, threadId: string, keys: EncryptionKeys = []): ThreadSource {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const db = openConnection(file, { readonly: true });
  try {
    assertSchema(db);
    const coder = openCoder(db, keys);
    db.exec('BEGIN');
    return { ...readThread(createStatements(db, coder), threadId), close: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

function readThread(prepare: Prepare, threadId: string): Omit<ThreadSource, 'close'> {
  return {
    readStream: async (stream, from, limit) => readStream(prepare, stream, from, limit),
    size: async () => sizeOf(prepare, threadId),
    async *payloads() {
      const thread = findThread(prepare, threadId);
      if (thread !== undefined) yield* readCheckpoints(prepare, thread);
      for (const runId of runsWithFrames(prepare, threadId)) yield* readFrames(prepare, runId);
      const untracked = prepare('SELECT run_id FROM untracked_values WHERE thread_id = ? ORDER BY run_id');
      for (const runId of untracked.pluck().all(threadId) as string[])
        yield { kind: 'untracked', runId, text: wholeText(readUntracked(prepare, runId)!) };
      yield* readRecordings(prepare, threadId);
    },
  };
}

const wholeText = (data: string): SourceText => ({ data, whole: () => data });

/** Ids are numbers of the order of saving. Only they are held: the thread may have very many of both. */
function* readCheckpoints(prepare: Prepare, thread: number): Generator<SourcePayload> {
  const ids = (table: 'checkpoint_rows' | 'blob_rows'): Float64Array =>
    Float64Array.from(
      prepare(`SELECT id FROM ${table} WHERE thread = ?`).pluck().all(thread) as number[],
    ).sort();
  const values = ids('blob_rows');
  let written = 0;
  function* valuesUpTo(id: number): Generator<SourceValue> {
    while (written < values.length && values[written]! <= id) yield readValue(prepare, values[written++]!);
  }
  const unpack = openCheckpoints(prepare.coder);
  for (const id of ids('checkpoint_rows')) {
    const row = prepare(
      `SELECT checkpoints.*, (SELECT last_frame FROM checkpoint_rows WHERE id = @id) AS last_frame
       FROM checkpoints WHERE seq = @id`,
    ).get({ id }) as CheckpointRow;
    const { metadata, versions, valueChannels, body } = unpack(row);
    const parse = (text: string): unknown => fromStored(text, 'part of checkpoint', row.checkpoint_id);
    const channelVersions = parse(versions) as Record<string, string>;
    // Values are numbered in the order of saving too, except in a copied thread: there the first checkpoints take more.
    yield* valuesUpTo(lastValue(prepare, thread, row.ns, versions));
    yield {
      kind: 'checkpoint',
      ...{ runId: row.run_id, ns: row.ns, checkpointId: row.checkpoint_id, parentId: row.parent_id },
      ...{ at: row.at, lastFrame: row.last_frame, channelVersions },
      metadata: parse(metadata) as JsonObject,
      valueChannels: parse(valueChannels) as string[],
      text: wholeText(body),
    } satisfies SourceCheckpoint;
    yield* readWrites(prepare, row);
  }
  yield* valuesUpTo(Infinity);
}

interface CheckpointRow extends PackedCheckpoint {
  readonly ns: string;
  readonly checkpoint: number;
  readonly at: number;
  readonly last_frame: number | null;
}

/** The highest row of the values that a checkpoint names, 0 without any. `versions`: JSON text. */
const lastValue = (prepare: Prepare, thread: number, ns: string, versions: string): number =>
  prepare(
    // A cross join keeps the order: the planner would scan all values of the thread for each checkpoint.
    `SELECT coalesce(max(blob.id), 0) FROM json_each(@versions) AS named CROSS JOIN blob_rows AS blob
     ON blob.thread = @thread AND blob.ns = @ns AND blob.channel = named.key AND blob.version = named.value`,
  )
    .pluck()
    .get({ thread, ns, versions }) as number;

interface ValueRow {
  readonly thread: number;
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly run: string | Buffer;
  readonly base: string | null;
  readonly kept: number;
  readonly data: Stored;
  readonly head: number;
  readonly start: number;
  readonly below: Stored | null;
}

function readValue(prepare: Prepare, id: number): SourceValue {
  const row = prepare(
    `SELECT blob.thread, ns, channel, version, ran.name AS run, base, kept, data, head, start,
       iif(rest IS NULL, NULL, (SELECT data FROM blob_rows AS below WHERE below.id = blob.rest)) AS below
     FROM blob_rows AS blob JOIN checkpoint_names AS ran ON ran.id = blob.run WHERE blob.id = ?`,
  ).get(id) as ValueRow;
  const { thread, ns, channel, version, base, kept } = row;
  const whole = (): string => readChannel(prepare, { thread, ns }, channel, version)!;
  const below = base?.startsWith(ROW_MARK) ? Number(base.slice(ROW_MARK.length)) : undefined;
  const isFirst = base === null || row.below !== null;
  // A base that comes later, as in a copied thread, or is not given as a row, has not been read yet.
  const text: SourceText = isFirst
    ? { data: fill(prepare, row), key: `value ${id}`, whole }
    : below !== undefined && below < id
      ? {
          data: prepare.coder.open(row.data),
          key: `value ${id}`,
          splice: { base: `value ${below}`, head: 0, start: 0, kept },
          whole,
        }
      : { data: whole(), key: `value ${id}`, whole };
  return { kind: 'value', runId: toId(row.run), ns, channel, version, text };
}

function* readWrites(
  prepare: Prepare,
  { ns, checkpoint, checkpoint_id }: CheckpointRow,
): Generator<SourceWrite> {
  const ids = prepare(
    `SELECT id FROM write_rows WHERE checkpoint = ? AND ns = ? ORDER BY task_path, ${idOf('task')}, idx`,
  )
    .pluck()
    .all(checkpoint, ns) as number[];
  for (const id of ids) {
    const row = prepare(
      `SELECT task, task_path, idx, ran.name AS run, written.channel, written.head, written.start, written.kept,
         written.data, blob.data AS below
       FROM write_rows AS written JOIN checkpoint_names AS ran ON ran.id = written.run
         LEFT JOIN blob_rows AS blob ON blob.id = written.base WHERE written.id = ?`,
    ).get(id) as Omit<ValueRow, 'thread' | 'ns' | 'version' | 'base'> & {
      readonly task: string | Buffer;
      readonly task_path: string;
      readonly idx: number;
    };
    yield {
      kind: 'write',
      ...{ runId: toId(row.run), ns, checkpointId: checkpoint_id },
      ...{ taskId: toId(row.task), taskPath: row.task_path, idx: row.idx, channel: row.channel },
      text: wholeText(fill(prepare, row)),
    };
  }
}

/** In the order in which they ran: a frame's text leans on those of earlier runs. */
const runsWithFrames = (prepare: Prepare, threadId: string): string[] =>
  prepare(
    `SELECT frame_runs.run_id FROM frame_runs LEFT JOIN runs USING (run_id)
     WHERE frame_runs.thread_id = ? ORDER BY turn IS NULL, turn, frame_runs.run_id`,
  )
    .pluck()
    .all(threadId) as string[];

interface StateRow {
  readonly series: string;
  readonly base: number | null;
  readonly head: number;
  readonly start: number;
  readonly kept: number;
  readonly data: Stored;
}

function* readFrames(prepare: Prepare, runId: string): Generator<SourceFrame> {
  const page = prepare(
    `SELECT id, event, iif(state IS NULL, data, '') AS data, at, state FROM frame_rows
     WHERE run_id = ? AND id > ? ORDER BY id LIMIT ${PAGE_FRAMES}`,
  );
  type Row = { id: number; event: string; data: Stored; at: number; state: number | null };
  for (let after = -1, rows = page.all(runId, after) as Row[]; rows.length > 0;) {
    for (const { id, event, data, at, state } of rows) {
      const frame = { kind: 'frame', runId, id, event, at } as const;
      if (state === null) yield { ...frame, showsState: false, text: wholeText(prepare.coder.open(data)) };
      else yield { ...frame, ...readState(prepare, state) };
    }
    after = rows.at(-1)!.id;
    rows = page.all(runId, after) as Row[];
  }
  for (const { id, event, data, at } of readTail(prepare, findTail(prepare)(runId), -1, -1))
    yield { kind: 'frame', runId, id, event, at, showsState: false, text: wholeText(data) };
}

function readState(prepare: Prepare, id: number): Pick<SourceFrame, 'showsState' | 'text'> {
  const { series, base, head, start, kept, data } = prepare(
    'SELECT series, base, head, start, kept, data FROM frame_states WHERE id = ?',
  ).get(id) as StateRow;
  const text = {
    data: prepare.coder.open(data),
    key: `frame ${id}`,
    whole: () => readFrameText(prepare, id),
  };
  return {
    showsState: series !== ALONE,
    text: base === null ? text : { ...text, splice: { base: `frame ${base}`, head, start, kept } },
  };
}

function* readRecordings(prepare: Prepare, threadId: string): Generator<SourcePayload> {
  const parts = prepare('SELECT seq FROM recordings WHERE thread_id = ? ORDER BY seq').pluck();
  const part = prepare('SELECT run_id, data FROM recordings WHERE seq = ?');
  for (const seq of parts.all(threadId)) {
    const { run_id, data } = part.get(seq) as { run_id: string; data: Uint8Array };
    yield { kind: 'recording', runId: run_id, bytes: prepare.coder.openBytes(data) };
  }
}

const sizeOf = (prepare: Prepare, threadId: string): number =>
  prepare(
    `SELECT
       coalesce((SELECT sum(octet_length(packed)) FROM checkpoints WHERE thread_id = @threadId), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM channel_blobs WHERE thread_id = @threadId), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM checkpoint_writes WHERE thread_id = @threadId), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM frame_states WHERE thread_id = @threadId), 0)`,
  )
    .pluck()
    .get({ threadId }) as number;
