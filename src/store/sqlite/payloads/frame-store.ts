/**
 * Frames: those of a run that one commit has are one row. Many show the whole state of the thread, one after every step;
 * a long one has a row of its own and is the difference from the last one that showed the state of the same graph.
 *
 * S1, S2 A frame reads byte for byte as it was written, whatever else was forgotten meanwhile. P3 A state that grows costs
 * its new tail and not its length again.
 */
import type { NewFrame, PayloadWrite } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import type { PayloadStore } from './checkpoint-store.ts';
import { heldKey } from '../../sql/payloads/held-texts.ts';
import { toStoredId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import { encodeText, eraseTexts, loadBase, type BaseText } from '../../sql/payloads/text-rows.ts';

/** Shorter texts that show the state lie with the other frames, in UTF-16 units. */
const SHORTEST = 1024;
/** What the frames of one row have together, unless it is one frame. */
const LARGEST_ROW = 65_536;

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
    if (isState || size + length > LARGEST_ROW || (times !== undefined && timeOf(index) !== timeOf(from)))
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

/** A line for each frame: its length, and its event where that is another than the one before. */
const toParts = (frames: readonly NewFrame[]): string =>
  frames
    .map(({ event, data }, index) =>
      event === frames[index - 1]?.event ? `${data.length}` : `${data.length} ${toLine(event)}`,
    )
    .join('\n');

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
