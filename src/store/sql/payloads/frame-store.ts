/**
 * Frames: those of a run that one commit has are one row. Many show the whole state of the thread, one after every step;
 * a long one has a row of its own and is the difference from the last one that showed the state of the same graph.
 *
 * S1, S2 A frame reads byte for byte as it was written, whatever else was forgotten meanwhile. P3 A state that grows costs
 * its new tail and not its length again.
 */
import type { NewFrame, PayloadWrite } from '../../port/payloads.ts';
import { newIds, rows, some, write as step, type Work } from '../work.ts';
import { heldKey } from './held-texts.ts';
import { keepBases, keyOf, type PayloadStore } from './shared-texts.ts';
import { toStoredId } from './stored-ids.ts';
import { encodeText, eraseTexts, loadBase, type BaseText, type NewText } from './text-rows.ts';

/** Shorter texts that show the state lie with the other frames, in UTF-16 units. */
const SHORTEST = 1024;
/** What the frames of one row have together, unless it is one frame. */
const LARGEST_ROW = 65_536;

type FramesWrite = Extract<PayloadWrite, { kind: 'frames' }>;

/** Throws `RangeError` for an id that is not above those that the run has. */
export function* writeFrames(store: PayloadStore, write: FramesWrite, at: number): Work<void> {
  const { first, frames, times } = write;
  let from = 0;
  let size = 0;
  const timeOf = (index: number): number => times?.[index] ?? at;
  function* flush(to: number): Work<void> {
    if (to > from)
      yield* insert(store, write, { first: first + from, at: timeOf(from) }, frames.slice(from, to));
    [from, size] = [to, 0];
  }
  for (const [index, frame] of frames.entries()) {
    const { length } = frame.data;
    const isState = frame.state !== undefined && length >= SHORTEST;
    if (isState || size + length > LARGEST_ROW || (times !== undefined && timeOf(index) !== timeOf(from)))
      yield* flush(index);
    size += length;
    if (!isState) continue;
    yield* insertState(store, write, { first: first + index, at: timeOf(index) }, frame);
    [from, size] = [index + 1, 0];
  }
  yield* flush(frames.length);
}

/** `first`: id of the row's first frame, which was committed at `at`. */
interface RowStart {
  readonly first: number;
  readonly at: number;
}

function* insert(
  store: PayloadStore,
  { runId, threadId }: FramesWrite,
  { first, at }: RowStart,
  frames: readonly NewFrame[],
  series: string | null = null,
  encoded: NewText = encodeText(store.context, frames.map(({ data }) => data).join('')),
): Work<number> {
  const { cost: _, used, ...columns } = encoded;
  yield* keepBases(store, 'frames', used);
  const isFound = first === 0 || series !== null;
  const id: number = yield newIds('frames');
  yield some(
    `INSERT INTO frames (id, run, first, last, thread, series, at, parts, bases, size, data, crc)
     SELECT @id, @run, @first, @last, @thread, @series, @at, @parts, @bases, @size, @data, @crc
     WHERE NOT EXISTS (SELECT 1 FROM frames WHERE run = @run AND last >= @first)`,
    {
      ...{ id, run: toStoredId(runId), first, last: first + frames.length - 1, at, series },
      thread: isFound ? toStoredId(threadId) : null,
      parts: toParts(frames),
      ...columns,
    },
    () => new RangeError(`S1 run ${runId} has a frame ${first} already`),
    [`frames ${runId}`],
  );
  store.kept.add(keyOf('frames', id));
  return id;
}

function* insertState(store: PayloadStore, write: FramesWrite, start: RowStart, frame: NewFrame): Work<void> {
  const { context, held } = store;
  const [, ...path] = frame.event.split('|');
  // The runtime gives a subgraph another id in every run, and its state goes on all the same.
  const series = path.map((step) => step.split(':', 1)[0]).join('|');
  const key = heldKey('f', write.threadId, '', series);
  const known = held.of(key);
  const latest = known.length > 0 ? known : yield* findLatest(store, write.threadId, series);
  const encoded = encodeText(context, frame.data, latest);
  // A text that shows little of the state would only end the chain of those that show it.
  const isAlone =
    frame.state === 'part' && encoded.bases === null && frame.data.length < (latest[0]?.text.length ?? 0);
  const id = yield* insert(store, write, start, [frame], isAlone ? null : series, encoded);
  const { cost, crc } = encoded;
  if (!isAlone) held.set(key, [{ id, text: frame.data, cost, crc }]);
}

function* findLatest({ context }: PayloadStore, threadId: string, series: string): Work<readonly BaseText[]> {
  const [found]: readonly { id: number }[] = yield rows(
    `SELECT id FROM frames WHERE thread = ? AND series = ? ORDER BY ${context.order} DESC LIMIT 1 ${context.lockRows}`,
    [toStoredId(threadId), series],
  );
  return found === undefined ? [] : [yield* loadBase(context, 'frames', found.id)];
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

export function* forgetFrames({ context, held }: PayloadStore, runId: string, threadId: string): Work<void> {
  const going: readonly { id: number }[] = yield rows(
    `SELECT id FROM frames WHERE run = ? ${context.takeRows}`,
    [toStoredId(runId)],
  );
  yield* eraseTexts(context, 'frames', toStoredId(threadId), new Set(going.map(({ id }) => id)));
  held.forget();
}

export function* forgetThreadFrames({ held }: PayloadStore, threadId: string): Work<void> {
  yield step('DELETE FROM frames WHERE run IN (SELECT run FROM frames WHERE thread = ? AND first = 0)', [
    toStoredId(threadId),
  ]);
  held.forget();
}
