/**
 * Reads all payloads of one thread in the form in which they are stored, so an export costs what the thread occupies
 * and not what all its texts would take in full. For a connection of its own in a read transaction.
 */
import { Unavailable } from '../../../kernel/unavailable.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type {
  SourceFrame,
  SourcePayload,
  SourceText,
  SourceValue,
  SourceWrite,
  ThreadSource,
} from '../../port/thread-source.ts';
import type { LogSource } from '../../port/log-source.ts';
import { openConnection, type Connection } from '../connection.ts';
import { readStream } from '../../sql/event-store.ts';
import { readLog } from '../../sql/log-source.ts';
import type { Stored } from '../../sql/coder.ts';
import type { EncryptionKeys } from '../../sql/keyring.ts';
import { readUntracked } from '../../sql/payloads/run-contents.ts';
import { openCoder } from '../keyring.ts';
import { LOG_FILE } from '../log.ts';
import { assertFormat } from '../schema.ts';
import { createStatements, type Prepare } from '../statements.ts';
import { openCheckpoint, readCheckpointRow } from '../../sql/payloads/checkpoint-reads.ts';
import { FRAMES_COLUMNS, splitFrames, type FramesRow } from '../../sql/payloads/frame-reads.ts';
import { toId, toStoredId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';
import { readSplice, readText, type TextColumns, type TextTable } from '../../sql/payloads/text-rows.ts';
import { inOrder, readPlacedWrites } from '../../sql/payloads/write-reads.ts';

/** Opens the source of a thread in the log of a data directory, beside a running server too. */
export function openThreadSource(dir: string, threadId: string, keys: EncryptionKeys = []): ThreadSource {
  const { db, prepare } = openForReading(dir, keys);
  return { ...readThread(prepare, threadId), close: () => db.close() };
}

/** The same of the whole log. */
export function openLogSource(dir: string, keys: EncryptionKeys = []): LogSource {
  const { db, prepare } = openForReading(dir, keys);
  const { run, context } = prepare.driver;
  return {
    ...readLog({
      context,
      run: async (work) => run(work),
      payloadsOf: (threadId) => readThread(prepare, threadId).payloads(),
    }),
    size: async () =>
      prepare('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size')
        .pluck()
        .get() as number,
    close: async () => void db.close(),
  };
}

function openForReading(dir: string, keys: EncryptionKeys): { db: Connection; prepare: Prepare } {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Unavailable(`${file} does not exist`);
  const db = openConnection(file, { readonly: true });
  try {
    assertFormat(db);
    const coder = openCoder(db, keys);
    db.exec('BEGIN');
    return { db, prepare: createStatements(db, coder) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function readThread(prepare: Prepare, threadId: string): Omit<ThreadSource, 'close'> {
  const { run, context } = prepare.driver;
  return {
    readStream: async (stream, from, limit) => run(readStream(context, stream, from, limit)),
    size: async () => sizeOf(prepare, threadId),
    async *payloads() {
      yield* readCheckpoints(prepare, threadId);
      // An import that is under way has written contents of runs that are not there.
      const there = prepare('SELECT 1 FROM runs WHERE run_id = ?');
      const isThere = (id: StoredId): boolean => there.get(toId(id)) !== undefined;
      for (const id of runsWithFrames(prepare, threadId)) if (isThere(id)) yield* readFrames(prepare, id);
      const untracked = prepare(
        `SELECT DISTINCT run_id FROM run_contents WHERE thread_id = ? AND kind = 'untracked-values'
           AND ${RUN_IS_THERE} ORDER BY run_id`,
      );
      for (const runId of untracked.pluck().all(threadId) as string[])
        yield { kind: 'untracked', runId, text: wholeText(run(readUntracked(context, runId))!) };
      yield* readCallsAndRecordings(prepare, threadId);
    },
  };
}

/** In the order in which their first frames were committed. */
const runsWithFrames = (prepare: Prepare, threadId: string): StoredId[] =>
  prepare('SELECT run FROM frames WHERE thread = ? AND first = 0 ORDER BY id')
    .pluck()
    .all(toStoredId(threadId)) as StoredId[];

const RUN_IS_THERE = 'run_id IN (SELECT run_id FROM runs)';

const wholeText = (data: string): SourceText => ({ data, whole: () => data });

/**
 * A text that others may have as their base. A difference is given as a stretch of its first base, if that is one that
 * was given before.
 */
function sourceText(
  prepare: Prepare,
  table: TextTable,
  row: TextColumns,
  isGiven = (_base: number): boolean => true,
): SourceText {
  const key = `${table} ${row.id}`;
  const whole = (): string => prepare.driver.run(readText(prepare.driver.context, table, row));
  const base = row.bases === null ? undefined : (JSON.parse(row.bases) as number[])[0];
  if (base === undefined || !isGiven(base)) return { data: whole(), key, whole };
  const { data, ...stretch } = prepare.driver.run(readSplice(prepare.driver.context, table, row.id));
  return { data, key, splice: { base: `${table} ${base}`, ...stretch }, whole };
}

/** Ids are numbers of the order of saving. Only they are held: the thread may have very many of both. */
function* readCheckpoints(prepare: Prepare, threadId: string): Generator<SourcePayload> {
  const { run, context } = prepare.driver;
  const thread = run(findThread(threadId));
  const ids = (kind: 'c' | 'v'): Float64Array =>
    Float64Array.from(
      prepare('SELECT id FROM texts WHERE thread = ? AND kind = ?').pluck().all(thread, kind) as number[],
    ).sort();
  const values = ids('v');
  let given = 0;
  /** `runId`: of those that came with a checkpoint. */
  function* valuesUpTo(id: number, runId: StoredId): Generator<SourceValue> {
    while (given < values.length && values[given]! < id) yield readValue(prepare, values[given++]!, runId);
  }
  for (const id of ids('c')) {
    const row = run(readCheckpointRow(id))!;
    // A checkpoint is saved after the values that it names.
    yield* valuesUpTo(id, row.run);
    const { versions, body, ...opened } = openCheckpoint(row, run(readText(context, 'texts', row)));
    yield {
      kind: 'checkpoint',
      ...{ ...opened, ns: row.ns, at: row.at, lastFrame: row.last_frame, channelVersions: versions },
      text: wholeText(body),
    };
    yield* readWritesOn(prepare, threadId, row.ns, opened.checkpointId);
  }
  yield* valuesUpTo(Infinity, '');
}

interface ValueRow extends TextColumns {
  readonly ns: string;
  readonly name: string;
  readonly version: string;
  readonly run: StoredId | null;
}

function readValue(prepare: Prepare, id: number, run: StoredId): SourceValue {
  const row = prepare('SELECT id, ns, name, version, run, bases, data FROM texts WHERE id = ?').get(
    id,
  ) as ValueRow;
  const isValue = prepare("SELECT 1 FROM texts WHERE id = ? AND kind = 'v'");
  const { ns, name: channel, version } = row;
  const text = sourceText(prepare, 'texts', row, (base) => isValue.get(base) !== undefined);
  return { kind: 'value', runId: toId(row.run ?? run), ns, channel, version, text };
}

function* readWritesOn(
  prepare: Prepare,
  threadId: string,
  ns: string,
  checkpointId: string,
): Generator<SourceWrite> {
  const { run, context } = prepare.driver;
  for (const { data, ...write } of inOrder(run(readPlacedWrites(context, threadId, { ns, checkpointId }))))
    yield { kind: 'write', ...write, taskPath: write.taskPath ?? '', text: wholeText(data) };
}

/** Runs in the order in which they began: a frame's text is a difference from those of earlier runs. */
function* readFrames(prepare: Prepare, run: StoredId): Generator<SourceFrame> {
  const next = prepare(
    `SELECT ${FRAMES_COLUMNS}, series FROM frames WHERE run = ? AND last > ? ORDER BY last LIMIT 1`,
  );
  type Row = FramesRow & { readonly series: string | null };
  const { run: read, context } = prepare.driver;
  const runId = toId(run);
  for (let last = -1; ;) {
    const row = next.get(run, last) as Row | undefined;
    if (row === undefined) return;
    last = row.last;
    if (row.series === null)
      for (const { data, ...frame } of splitFrames(row, read(readText(context, 'frames', row))))
        yield { kind: 'frame', runId, ...frame, showsState: false, text: wholeText(data) };
    else {
      const event = row.parts.slice(row.parts.indexOf(' ') + 1);
      const text = sourceText(prepare, 'frames', row);
      yield { kind: 'frame', runId, id: row.first, event, at: row.at, showsState: true, text };
    }
  }
}

function* readCallsAndRecordings(prepare: Prepare, threadId: string): Generator<SourcePayload> {
  const ids = prepare(
    `SELECT id FROM run_contents
     WHERE thread_id = ? AND kind IN ('calls', 'recording') AND ${RUN_IS_THERE} ORDER BY id`,
  ).pluck();
  const part = prepare('SELECT run_id, kind, data FROM run_contents WHERE id = ?');
  for (const id of ids.all(threadId)) {
    const { run_id: runId, kind, data } = part.get(id) as { run_id: string; kind: string; data: Stored };
    if (kind === 'calls') yield { kind, runId, text: wholeText(prepare.coder.open(data)) };
    else yield { kind: 'recording', runId, bytes: prepare.coder.openBytes(data as Uint8Array) };
  }
}

const sizeOf = (prepare: Prepare, threadId: string): number =>
  prepare(
    `SELECT coalesce((SELECT sum(octet_length(data)) FROM texts WHERE thread = @thread), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM frames WHERE thread = @id), 0)`,
  )
    .pluck()
    .get({ thread: prepare.driver.run(findThread(threadId)), id: toStoredId(threadId) }) as number;
