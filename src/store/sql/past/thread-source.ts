/**
 * Reads all payloads of one thread in the form in which they are stored, so an export costs what the thread occupies
 * and not what all its texts would take in full.
 */
import type { StoredFrame } from '../../port/payloads.ts';
import type { CheckpointKey } from '../../../thread/events.ts';
import type { SourceFrame, SourcePayload, ThreadSource } from '../../port/thread-source.ts';
import type { Stored } from '../coder.ts';
import { readStream } from '../event-store.ts';
import { openCheckpoint } from '../payloads/checkpoint-reads.ts';
import { FRAMES_COLUMNS, splitFrames, type FramesRow } from '../payloads/frame-reads.ts';
import { toId, toStoredId, type StoredId } from '../payloads/stored-ids.ts';
import type { CheckpointRow } from '../payloads/text-rows.ts';
import { THREAD } from '../payloads/text-threads.ts';
import { inOrder, readWritesOn } from '../payloads/write-reads.ts';
import { ask, type Work, type WorkContext } from '../work.ts';
import type { Reading } from './reading.ts';
import {
  among,
  BYTES,
  firstBase,
  NO_ID,
  pagesOf,
  sourceTexts,
  toSizes,
  wholeText,
  type Reader,
  type Sizes,
} from './source-texts.ts';

export function openThreadSource({ close, ...reader }: Reading, threadId: string): ThreadSource {
  const { context, run } = reader;
  return {
    readStream: (stream, from, limit) => run(readStream(context, stream, from, limit)),
    size: () => run(sizeOf(threadId)),
    payloads: () => readPayloads(reader, threadId),
    close,
  };
}

export async function* readPayloads(reader: Reader, threadId: string): AsyncGenerator<SourcePayload> {
  yield* readCheckpoints(reader, threadId);
  const runs = await reader.run(runsWithFrames(reader.context, threadId));
  for (let at = 0; at < runs.length; at += MAX_ASKED)
    yield* readFrames(reader, runs.slice(at, at + MAX_ASKED));
  yield* readContents(reader, threadId);
}

function* sizeOf(threadId: string): Work<number> {
  const [row] = yield* ask<{ bytes: number }>(
    `SELECT coalesce((SELECT sum(octet_length(data)) FROM texts WHERE thread = ${THREAD}), 0)
       + coalesce((SELECT sum(octet_length(data)) FROM frames WHERE thread = @thread), 0) AS bytes`,
    { thread: toStoredId(threadId) },
  );
  return row!.bytes;
}

/** Of runs that one statement asks for. */
const MAX_ASKED = 32;

/** Checkpoints and values in the order of saving, with the bytes of what tasks wrote on them. */
function* savedSizes({ order }: WorkContext, threadId: string): Work<Sizes> {
  return toSizes(
    yield* ask<{ id: number; bytes: number }>(
      `SELECT CASE kind WHEN 'w' THEN ${NO_ID} ELSE id END AS id, ${BYTES} AS bytes FROM texts
       WHERE thread = ${THREAD} AND kind IN ('c', 'v', 'w') ORDER BY ${order}`,
      { thread: toStoredId(threadId) },
    ),
  );
}

/** Only ids and sizes are held: the thread may have very many of both. */
async function* readCheckpoints(reader: Reader, threadId: string): AsyncGenerator<SourcePayload> {
  const sizes = await reader.run(savedSizes(reader.context, threadId));
  const hasWrites = sizes.ids.includes(NO_ID);
  for (const ids of pagesOf(sizes)) yield* await reader.run(readSaved(reader, threadId, ids, hasWrites));
}

interface SavedRow extends CheckpointRow {
  readonly kind: 'c' | 'v';
  readonly version: string;
  readonly place: number;
}

/** A checkpoint is saved after the values that it names, and what tasks wrote on it follows it. */
function* readSaved(
  reader: Reader,
  threadId: string,
  ids: readonly number[],
  hasWrites: boolean,
): Work<SourcePayload[]> {
  const { context } = reader;
  const found = yield* ask<SavedRow>(
    `SELECT id, kind, thread, ns, name, version, run, parent, at, last_frame, bases, data, ${context.order} AS place FROM texts
     WHERE ${among(context, 'id')} ORDER BY ${context.order}`,
    { ids: JSON.stringify(ids) },
  );
  const given = yield* valuesAmong(context, found);
  const texts = yield* sourceTexts(
    reader,
    'texts',
    found,
    ({ kind }, base) => kind === 'v' && given.has(base),
  );
  const opened = found.map((row, index) =>
    row.kind === 'c' ? openCheckpoint(row, texts[index]!.data) : undefined,
  );
  const keys = opened.flatMap((of, index) =>
    of === undefined ? [] : [{ ns: found[index]!.ns, checkpointId: of.checkpointId }],
  );
  const writes = Map.groupBy(hasWrites ? yield* readWritesOn(context, threadId, keys) : [], keyOf);
  const payloads: SourcePayload[] = [];
  // A value without a run came with the checkpoint that follows it.
  let runId = yield* runAfter(context, threadId, found);
  for (const [index, row] of [...found.entries()].reverse()) {
    const { ns, name, at, last_frame: lastFrame } = row;
    const of = opened[index];
    if (of === undefined) {
      const value = { ns, channel: String(name), version: row.version, text: texts[index]! };
      payloads.push({ kind: 'value', runId: row.run === null ? runId : toId(row.run), ...value });
      continue;
    }
    const { versions: channelVersions, body, ...rest } = of;
    runId = of.runId;
    const own = inOrder(writes.get(keyOf({ ns, checkpointId: of.checkpointId })) ?? []).map(
      ({ data, ...write }): SourcePayload => ({
        ...{ kind: 'write', ...write, taskPath: write.taskPath ?? '', text: wholeText(data) },
      }),
    );
    payloads.push(...own.reverse());
    payloads.push({
      kind: 'checkpoint',
      ...{ ...rest, ns, at, lastFrame, channelVersions, text: wholeText(body) },
    });
  }
  return payloads.reverse();
}

const keyOf = ({ ns, checkpointId }: CheckpointKey): string => `${ns} ${checkpointId}`;

/** Which bases of these rows are values: other texts are not given under a key. */
function* valuesAmong(context: WorkContext, found: readonly SavedRow[]): Work<ReadonlySet<number>> {
  const bases = new Set(found.flatMap((row) => (row.kind === 'v' ? (firstBase(row) ?? []) : [])));
  if (bases.size === 0) return bases;
  const values = yield* ask<{ id: number }>(
    `SELECT id FROM texts WHERE kind = 'v' AND ${among(context, 'id')}`,
    { ids: JSON.stringify([...bases]) },
  );
  return new Set(values.map(({ id }) => id));
}

/** The run of the checkpoint behind a page that ends with values; empty without one. */
function* runAfter({ order }: WorkContext, threadId: string, page: readonly SavedRow[]): Work<string> {
  const last = page.at(-1)!;
  if (last.kind === 'c') return '';
  const [next] = yield* ask<{ run: StoredId }>(
    `SELECT run FROM texts WHERE thread = ${THREAD} AND kind = 'c' AND ${order} > @place ORDER BY ${order} LIMIT 1`,
    { thread: toStoredId(threadId), place: last.place },
  );
  return next === undefined ? '' : toId(next.run);
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
  if (found.length === 0) return [];
  const there = new Set(
    (yield* ask<{ id: string }>('SELECT run_id AS id FROM runs WHERE thread_id = ?', [threadId])).map(
      ({ id }) => id,
    ),
  );
  return found.flatMap(({ run }) => (there.has(toId(run)) ? [run] : []));
}

type SourceRow = FramesRow & { readonly run: StoredId; readonly series: string | null };

async function* readFrames(reader: Reader, runs: readonly StoredId[]): AsyncGenerator<SourceFrame> {
  const { run } = reader;
  const names = runs.map((_, index) => `@r${index}`);
  const found = await run(
    ask<{ id: number; run: StoredId; bytes: number }>(
      `SELECT id, run, ${BYTES} AS bytes FROM frames WHERE run IN (${names.join()}) ORDER BY run, last`,
      Object.fromEntries(runs.map((id, index) => [`r${index}`, id])),
    ),
  );
  const byRun = Map.groupBy(found, (row) => toId(row.run));
  const sizes = toSizes(runs.flatMap((id) => byRun.get(toId(id)) ?? []));
  for (const ids of pagesOf(sizes)) yield* await run(readFramesPage(reader, ids));
}

function* readFramesPage(reader: Reader, ids: readonly number[]): Work<SourceFrame[]> {
  const read = yield* ask<SourceRow>(
    `SELECT ${FRAMES_COLUMNS}, run, series FROM frames WHERE ${among(reader.context, 'id')}`,
    { ids: JSON.stringify(ids) },
  );
  const rowOf = new Map(read.map((row) => [row.id, row]));
  const found = ids.map((id) => rowOf.get(id)!);
  const texts = yield* sourceTexts(reader, 'frames', found, ({ series }) => series !== null);
  return found.flatMap((row, index) => {
    const text = texts[index]!;
    const runId = toId(row.run);
    if (row.series === null)
      return splitFrames(row, text.data).map(({ data, ...frame }): SourceFrame => ({
        ...{ kind: 'frame', runId, ...frame, showsState: false, text: wholeText(data) },
      }));
    const [{ id, event, at }] = splitFrames(row, '') as [StoredFrame];
    return [{ kind: 'frame', runId, id, event, at, showsState: true, text } satisfies SourceFrame];
  });
}

type Content = 'untracked-values' | 'calls' | 'recording';

interface ContentRow {
  readonly place: number;
  readonly run_id: string;
  readonly kind: Content;
  readonly data: Stored;
}

/** The last untracked values of each run, then what runs printed, called and recorded, as noted. */
async function* readContents({ context, run }: Reader, threadId: string): AsyncGenerator<SourcePayload> {
  const found = await run(
    ask<{ id: number; run_id: string; kind: Content; bytes: number }>(
      `SELECT ${context.order} AS id, run_id, kind, octet_length(data) AS bytes FROM run_contents
       WHERE thread_id = ? AND kind IN ('untracked-values', 'calls', 'recording') AND run_id IN (SELECT run_id FROM runs)
       ORDER BY ${context.order}`,
      [threadId],
    ),
  );
  const untracked = found.filter(({ kind }) => kind === 'untracked-values');
  const latest = new Map(untracked.map((row) => [row.run_id, row]));
  const noted = found.filter(({ kind }) => kind !== 'untracked-values');
  for (const ids of pagesOf(toSizes([...latest.values(), ...noted]))) {
    const page = await run(
      ask<ContentRow>(
        `SELECT ${context.order} AS place, run_id, kind, data FROM run_contents WHERE ${among(context, context.order)}`,
        { ids: JSON.stringify(ids) },
      ),
    );
    const rowOf = new Map(page.map((row) => [row.place, row]));
    for (const id of ids) yield toContent(context, rowOf.get(id)!);
  }
}

function toContent({ coder }: WorkContext, { run_id: runId, kind, data }: ContentRow): SourcePayload {
  if (kind === 'recording') return { kind, runId, bytes: coder.openBytes(data as Uint8Array) };
  return {
    kind: kind === 'calls' ? kind : 'untracked',
    ...{ runId, text: wholeText(coder.open(data)) },
  };
}
