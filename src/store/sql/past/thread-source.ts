/**
 * Reads all payloads of one thread in the form in which they are stored, so an export costs what the thread occupies
 * and not what all its texts would take in full. For a connection of its own in a read transaction.
 */
import type { StoredFrame } from '../../port/payloads.ts';
import type {
  SourceFrame,
  SourcePayload,
  SourceText,
  SourceValue,
  ThreadSource,
} from '../../port/thread-source.ts';
import type { Stored } from '../coder.ts';
import { readStream } from '../event-store.ts';
import { openCheckpoint, readCheckpointRow, type OpenedCheckpoint } from '../payloads/checkpoint-reads.ts';
import { FRAMES_COLUMNS, splitFrames, type FramesRow } from '../payloads/frame-reads.ts';
import { readUntracked } from '../payloads/run-contents.ts';
import { toId, toStoredId, type StoredId } from '../payloads/stored-ids.ts';
import {
  readSplice,
  readText,
  type CheckpointRow,
  type TextColumns,
  type TextTable,
} from '../payloads/text-rows.ts';
import { THREAD } from '../payloads/text-threads.ts';
import { inOrder, readPlacedWrites } from '../payloads/write-reads.ts';
import { ask, type Run, type Work, type WorkContext } from '../work.ts';

interface Reader {
  readonly context: WorkContext;
  readonly run: Run;
}

export function readThread(reader: Reader, threadId: string): Omit<ThreadSource, 'close'> {
  const { context, run } = reader;
  return {
    readStream: (stream, from, limit) => run(readStream(context, stream, from, limit)),
    size: () => run(sizeOf(threadId)),
    async *payloads() {
      yield* readCheckpoints(reader, threadId);
      for (const id of await run(runsWithFrames(context, threadId))) yield* readFrames(reader, id);
      for (const runId of await run(runsWithUntracked(threadId))) {
        const text = wholeText((await run(readUntracked(context, runId)))!);
        yield { kind: 'untracked', runId, text };
      }
      yield* readCallsAndRecordings(reader, threadId);
    },
  };
}

function* sizeOf(threadId: string): Work<number> {
  const [row] = yield* ask<{ bytes: number }>(
    `SELECT coalesce((SELECT sum(octet_length(data)) FROM texts WHERE thread = ${THREAD}), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM frames WHERE thread = @thread), 0) AS bytes`,
    { thread: toStoredId(threadId) },
  );
  return row!.bytes;
}

const wholeText = (data: string): SourceText => ({ data, whole: async () => data });

/**
 * A text that others may have as their base. A difference is given as a stretch of its first base, if that is one that
 * was given before.
 */
async function sourceText(
  { context, run }: Reader,
  table: TextTable,
  row: TextColumns,
  isGiven = async (_base: number): Promise<boolean> => true,
): Promise<SourceText> {
  const key = `${table} ${row.id}`;
  const whole = (): Promise<string> => run(readText(context, table, row));
  const base = row.bases === null ? undefined : (JSON.parse(row.bases) as number[])[0];
  if (base === undefined || !(await isGiven(base))) return { data: await whole(), key, whole };
  const { data, ...stretch } = await run(readSplice(context, table, row.id));
  return { data, key, splice: { base: `${table} ${base}`, ...stretch }, whole };
}

/** Row ids in the order of saving, and the places in that order. */
interface SavedIds {
  readonly ids: Float64Array;
  readonly places: Float64Array;
}

function* savedIds({ order }: WorkContext, threadId: string, kind: 'c' | 'v'): Work<SavedIds> {
  const found = yield* ask<{ id: number; place: number }>(
    `SELECT id, ${order} AS place FROM texts WHERE thread = ${THREAD} AND kind = @kind ORDER BY ${order}`,
    { thread: toStoredId(threadId), kind },
  );
  return {
    ids: Float64Array.from(found, ({ id }) => id),
    places: Float64Array.from(found, ({ place }) => place),
  };
}

function* readOpened(
  context: WorkContext,
  id: number,
): Work<{ row: CheckpointRow; opened: OpenedCheckpoint }> {
  const row = (yield* readCheckpointRow(id))!;
  return { row, opened: openCheckpoint(row, yield* readText(context, 'texts', row)) };
}

/** Only ids are held: the thread may have very many of both. */
async function* readCheckpoints(reader: Reader, threadId: string): AsyncGenerator<SourcePayload> {
  const { context, run } = reader;
  const values = await run(savedIds(context, threadId, 'v'));
  let given = 0;
  /** `runId`: of those that came with a checkpoint. */
  async function* valuesUpTo(place: number, runId: StoredId): AsyncGenerator<SourceValue> {
    while (given < values.ids.length && values.places[given]! < place)
      yield await readValue(reader, values.ids[given++]!, runId);
  }
  const checkpoints = await run(savedIds(context, threadId, 'c'));
  for (const [index, id] of checkpoints.ids.entries()) {
    const { row, opened: of } = await run(readOpened(context, id));
    const { versions, body, ...opened } = of;
    const { ns, at, last_frame: lastFrame } = row;
    // A checkpoint is saved after the values that it names.
    yield* valuesUpTo(checkpoints.places[index]!, row.run);
    yield {
      kind: 'checkpoint',
      ...{ ...opened, ns, at, lastFrame, channelVersions: versions },
      text: wholeText(body),
    };
    const writes = await run(readPlacedWrites(context, threadId, { ns, checkpointId: of.checkpointId }));
    for (const { data, ...write } of inOrder(writes))
      yield { kind: 'write', ...write, taskPath: write.taskPath ?? '', text: wholeText(data) };
  }
  yield* valuesUpTo(Infinity, '');
}

interface ValueRow extends TextColumns {
  readonly ns: string;
  readonly name: string;
  readonly version: string;
  readonly run: StoredId | null;
}

async function readValue(reader: Reader, id: number, runId: StoredId): Promise<SourceValue> {
  const [row] = await reader.run(
    ask<ValueRow>('SELECT id, ns, name, version, run, bases, data FROM texts WHERE id = ?', [id]),
  );
  const isValue = async (base: number): Promise<boolean> =>
    (await reader.run(ask("SELECT 1 FROM texts WHERE id = ? AND kind = 'v'", [base]))).length > 0;
  const { ns, name: channel, version, run } = row!;
  const text = await sourceText(reader, 'texts', row!, isValue);
  return { kind: 'value', runId: toId(run ?? runId), ns, channel, version, text };
}

/**
 * In the order in which they began: a frame's text is a difference from those of earlier runs. An import that is under way
 * has written contents of runs that are not there.
 */
function* runsWithFrames({ order }: WorkContext, threadId: string): Work<StoredId[]> {
  const found = yield* ask<{ run: StoredId }>(
    `SELECT run FROM frames WHERE thread = ? AND first = 0 ORDER BY ${order}`,
    [toStoredId(threadId)],
  );
  const there = new Set(
    (yield* ask<{ id: string }>('SELECT run_id AS id FROM runs WHERE thread_id = ?', [threadId])).map(
      ({ id }) => id,
    ),
  );
  return found.flatMap(({ run }) => (there.has(toId(run)) ? [run] : []));
}

async function* readFrames(reader: Reader, run: StoredId): AsyncGenerator<SourceFrame> {
  type Row = FramesRow & { readonly series: string | null };
  const runId = toId(run);
  for (let last = -1; ;) {
    const [row] = await reader.run(
      ask<Row>(
        `SELECT ${FRAMES_COLUMNS}, series FROM frames WHERE run = ? AND last > ? ORDER BY last LIMIT 1`,
        [run, last],
      ),
    );
    if (row === undefined) return;
    last = row.last;
    if (row.series === null) {
      const text = await reader.run(readText(reader.context, 'frames', row));
      for (const { data, ...frame } of splitFrames(row, text))
        yield { kind: 'frame', runId, ...frame, showsState: false, text: wholeText(data) };
    } else {
      const [{ id, event, at }] = splitFrames(row, '') as [StoredFrame];
      yield {
        kind: 'frame',
        runId,
        id,
        event,
        at,
        showsState: true,
        text: await sourceText(reader, 'frames', row),
      };
    }
  }
}

const RUN_IS_THERE = 'run_id IN (SELECT run_id FROM runs)';

function* runsWithUntracked(threadId: string): Work<string[]> {
  const found = yield* ask<{ id: string }>(
    `SELECT DISTINCT run_id AS id FROM run_contents
     WHERE thread_id = ? AND kind = 'untracked-values' AND ${RUN_IS_THERE} ORDER BY run_id`,
    [threadId],
  );
  return found.map(({ id }) => id);
}

async function* readCallsAndRecordings(
  { context, run }: Reader,
  threadId: string,
): AsyncGenerator<SourcePayload> {
  const places = await run(
    ask<{ place: number }>(
      `SELECT ${context.order} AS place FROM run_contents WHERE thread_id = ? AND kind IN ('calls', 'recording') AND ${RUN_IS_THERE}
       ORDER BY ${context.order}`,
      [threadId],
    ),
  );
  for (const { place } of places) {
    const [row] = await run(
      ask<{ run_id: string; kind: 'calls' | 'recording'; data: Stored }>(
        `SELECT run_id, kind, data FROM run_contents WHERE ${context.order} = ?`,
        [place],
      ),
    );
    const { run_id: runId, kind, data } = row!;
    if (kind === 'calls') yield { kind, runId, text: wholeText(context.coder.open(data)) };
    else yield { kind, runId, bytes: context.coder.openBytes(data as Uint8Array) };
  }
}
