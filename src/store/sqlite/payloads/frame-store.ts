/**
 * Frames: those of a run that one commit has are one row. Many show the whole state of the thread, one after every step;
 * a long one has a row of its own and is the difference from the last one that showed the state of the same graph.
 *
 * S1, S2 A frame reads byte for byte as it was written, whatever else was forgotten meanwhile. P3 A state that grows costs
 * its new tail and not its length again.
 */
import type { NewFrame, PayloadReader, PayloadWrite, StoredFrame } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import type { PayloadStore } from './checkpoint-store.ts';
import { heldKey } from '../../sql/payloads/held-texts.ts';
import { toStoredId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import {
  encodeText,
  eraseTexts,
  loadBase,
  readText,
  type BaseText,
  type TextColumns,
} from '../../sql/payloads/text-rows.ts';

/** Shorter texts that show the state lie with the other frames, in UTF-16 units. */
const SHORTEST = 1024;
/** S3 What one reader of a stream may hold, and what the frames of one row have together unless it is one frame. */
const LARGEST_PAGE = 65_536;

type FramesWrite = Extract<PayloadWrite, { kind: 'frames' }>;

/** Throws `RangeError` for an id that is not above those that the run has. */
export function writeFrames(store: PayloadStore, write: FramesWrite, at: number): void {
  const { first, frames, times } = write;
  let from = 0;
  let size = 0;
  const timeOf = (index: number): number => times?.[index] ?? at;
  const flush = (to: number): void => {
    if (to > from) insert(store, write, { first: first + from, at: timeOf(from) }, frames.slice(from, to));
    [from, size] = [to, 0];
  };
  frames.forEach((frame, index) => {
    const { length } = frame.data;
    const isState = frame.state !== undefined && length >= SHORTEST;
    if (isState || size + length > LARGEST_PAGE || (times !== undefined && timeOf(index) !== timeOf(from)))
      flush(index);
    size += length;
    if (!isState) return;
    insertState(store, write, { first: first + index, at: timeOf(index) }, frame);
    [from, size] = [index + 1, 0];
  });
  flush(frames.length);
}

interface Place {
  readonly first: number;
  readonly at: number;
}

function insert(
  { prepare }: PayloadStore,
  { runId, threadId }: FramesWrite,
  { first, at }: Place,
  frames: readonly NewFrame[],
  series: string | null = null,
  columns: Omit<ReturnType<typeof encodeText>, 'cost'> = encodeText(
    prepare.driver.context,
    frames.map(({ data }) => data).join(''),
  ),
): number {
  const isFound = first === 0 || series !== null;
  const { changes, lastInsertRowid } = prepare(
    `INSERT INTO frames (run, first, last, thread, series, at, parts, bases, size, data, crc)
     SELECT @run, @first, @last, @thread, @series, @at, @parts, @bases, @size, @data, @crc
     WHERE NOT EXISTS (SELECT 1 FROM frames WHERE run = @run AND last >= @first)`,
  ).run({
    ...{ run: toStoredId(runId), first, last: first + frames.length - 1, at, series },
    thread: isFound ? toStoredId(threadId) : null,
    parts: toParts(frames),
    ...columns,
  });
  if (changes === 0) throw new RangeError(`S1 run ${runId} has a frame ${first} already`);
  return Number(lastInsertRowid);
}

function insertState(store: PayloadStore, write: FramesWrite, place: Place, frame: NewFrame): void {
  const { prepare, held } = store;
  const [, ...path] = frame.event.split('|');
  // The runtime gives a subgraph another id in every run, and its state goes on all the same.
  const series = path.map((step) => step.split(':', 1)[0]).join('|');
  const key = heldKey('f', write.threadId, '', series);
  const known = held.of(key);
  const latest = known.length > 0 ? known : findLatest(prepare, toStoredId(write.threadId), series);
  const { cost, ...columns } = encodeText(prepare.driver.context, frame.data, latest);
  // A text that shows little of the state would only end the chain of those that show it.
  const isAlone =
    frame.state === 'part' && columns.bases === null && frame.data.length < (latest[0]?.text.length ?? 0);
  const id = insert(store, write, place, [frame], isAlone ? null : series, columns);
  if (!isAlone) held.set(key, [{ id, text: frame.data, cost }]);
}

function findLatest(prepare: Prepare, thread: StoredId, series: string): readonly BaseText[] {
  const id = prepare('SELECT id FROM frames WHERE thread = ? AND series = ? ORDER BY id DESC LIMIT 1')
    .pluck()
    .get(thread, series) as number | undefined;
  return id === undefined ? [] : [prepare.driver.run(loadBase(prepare.driver.context, 'frames', id))];
}

/** Names of nodes may have line ends. */
const toLine = (event: string): string => event.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const fromLine = (line: string): string =>
  line.replace(/\\(n|\\)/g, (_, kind) => (kind === 'n' ? '\n' : '\\'));

/** A line for each frame: its length, and its event where that is another than the one before. */
const toParts = (frames: readonly NewFrame[]): string =>
  frames
    .map(({ event, data }, index) =>
      event === frames[index - 1]?.event ? `${data.length}` : `${data.length} ${toLine(event)}`,
    )
    .join('\n');

export interface FramesRow extends TextColumns {
  readonly first: number;
  readonly at: number;
  readonly parts: string;
}

export const FRAMES_COLUMNS = 'id, first, at, parts, bases, data';

export function openFrames(prepare: Prepare, row: FramesRow): StoredFrame[] {
  const text = prepare.driver.run(readText(prepare.driver.context, 'frames', row));
  let [at, event] = [0, ''];
  return row.parts.split('\n').map((part, index) => {
    const space = part.indexOf(' ');
    if (space >= 0) event = fromLine(part.slice(space + 1));
    const data = text.slice(at, (at += Number.parseInt(part, 10)));
    return { id: row.first + index, event, data, at: row.at };
  });
}

export const createFrameReader = (
  prepare: Prepare,
): Pick<PayloadReader, 'frames' | 'framesNamed' | 'lastFrame'> => ({
  frames: async (runId, after, limit) => readPage(prepare, toStoredId(runId), after, limit),
  framesNamed: async (runId, name) => readNamed(prepare, toStoredId(runId), name),
  async lastFrame(runId) {
    const sql = 'SELECT coalesce(max(last), -1) FROM frames WHERE run = ?';
    return prepare(sql).pluck().get(toStoredId(runId)) as number;
  },
});

/** In order of ids. A page ends with the frame that makes it larger than `LARGEST_PAGE`. */
function readPage(prepare: Prepare, run: StoredId, after: number, limit: number): StoredFrame[] {
  const page: StoredFrame[] = [];
  let size = 0;
  const rows = prepare(
    `SELECT ${FRAMES_COLUMNS} FROM frames WHERE run = ? AND last > ? ORDER BY last`,
  ).iterate(run, after) as IterableIterator<FramesRow>;
  for (const row of rows)
    for (const frame of openFrames(prepare, row)) {
      if (frame.id <= after) continue;
      if (page.push(frame) >= limit) return page;
      size += frame.data.length;
      if (size > LARGEST_PAGE) return page;
    }
  return page;
}

/** A frame's name ends before the first bar of its event. In order of ids. */
function readNamed(prepare: Prepare, run: StoredId, name: string): StoredFrame[] {
  const rows = prepare(
    `SELECT ${FRAMES_COLUMNS} FROM frames WHERE run = ? AND instr(parts, ?) > 0 ORDER BY last`,
  ).all(run, ` ${name}`) as FramesRow[];
  return rows
    .flatMap((row) => openFrames(prepare, row))
    .filter(({ event }) => event === name || event.startsWith(`${name}|`));
}

export function forgetFrames({ prepare, held }: PayloadStore, runId: string, threadId: string): void {
  const ids = prepare('SELECT id FROM frames WHERE run = ?').pluck().all(toStoredId(runId)) as number[];
  prepare.driver.run(eraseTexts(prepare.driver.context, 'frames', toStoredId(threadId), new Set(ids)));
  held.forget();
}

/** In the order in which their first frames were committed. */
export const runsWithFrames = (prepare: Prepare, threadId: string): StoredId[] =>
  prepare('SELECT run FROM frames WHERE thread = ? AND first = 0 ORDER BY id')
    .pluck()
    .all(toStoredId(threadId)) as StoredId[];

export function forgetThreadFrames({ prepare, held }: PayloadStore, threadId: string): void {
  for (const run of runsWithFrames(prepare, threadId)) prepare('DELETE FROM frames WHERE run = ?').run(run);
  held.forget();
}
