/**
 * Frames, and what they repeat. Many show the whole state of the thread, one after every step, so a text that agrees
 * with an earlier one of the same thread is kept as what differs from it.
 *
 * S1, S2 A frame reads byte for byte as it was written, whatever else was forgotten meanwhile: before a text goes,
 * those that lean on it and stay are made whole. P3 A state that grows costs its new tail and not its length again.
 *
 * A row of `frame_states` is a whole text (`base` NULL), or the first `head` units of its data, then `kept` units of
 * its base from the unit `start` on, then the rest of its data. Rows of a series (a thread's graph or subgraph) lie in
 * order of their ids, a base below what leans on it, so one sweep from the `anchor` on reads all that a text needs.
 * When a sweep would cost more than twice the text, the text is stored whole and begins a chain. An anchor of 0 is the
 * row itself.
 */
import type { NewFrame, PayloadReader, PayloadWrite, StoredFrame } from '../../port/payloads.ts';
import { readTail, type FrameTail } from './frame-tail.ts';
import type { Prepare } from '../statements.ts';
import { findOverlap } from './text-difference.ts';

/**
 * Shorter texts stay with their frame, in UTF-16 units: below this a difference is not worth a second row to read. In a
 * table without row ids each search reads the rows that it passes, however long they are.
 */
const SHORTEST = 1024;
/** So many frames of one run fill pages of their own. */
const MANY = 8;
/** What a row costs its reader besides its text. */
const ROW = 64;
/** S3 What one reader of a stream may hold, in characters. */
const LARGEST_PAGE = 65_536;
const NO_LIMIT = -1;
/** What leans on nothing, and nothing on it. No series is called so: the names in one end before a colon. */
export const ALONE = ':';

type FramesWrite = Extract<PayloadWrite, { kind: 'frames' }>;

interface FrameRow extends StoredFrame {
  readonly state: number | null;
}

/** A row as a list: long conversations have thousands. */
type Piece = readonly [
  id: number,
  base: number | null,
  anchor: number,
  head: number,
  start: number,
  kept: number,
  data: string,
];

interface Swept {
  readonly text: string;
  readonly cost: number;
}

/** Inside the commit's transaction. `isLast`: the run ends in it. */
export function writeFrames(
  prepare: Prepare,
  tail: FrameTail,
  { runId, threadId, first, frames, times }: FramesWrite,
  at: number,
  isLast: boolean,
): void {
  if (first === 0) prepare('INSERT OR IGNORE INTO frame_runs VALUES (?, ?)').run(threadId, runId);
  const isSmall = frames.length < MANY && frames.every(({ data }) => data.length < SHORTEST);
  if (isSmall && !isLast) {
    frames.forEach(({ event, data }, index) =>
      tail.add(runId, { id: first + index, event, data, at: times?.[index] ?? at }),
    );
    return;
  }
  tail.settle(runId);
  const insert = prepare('INSERT INTO frame_rows VALUES (?, ?, ?, ?, ?, ?, ?)');
  frames.forEach((frame, index) => {
    const { event, data } = frame;
    const state = data.length < SHORTEST ? undefined : writeText(prepare, threadId, frame);
    const text = prepare.coder.columns(state === undefined ? data : '');
    insert.run(runId, first + index, event, text.data, text.crc, times?.[index] ?? at, state ?? null);
  });
}

export const createFrameReader = (
  prepare: Prepare,
  rowsOf: FrameTail['rowsOf'],
): Pick<PayloadReader, 'frames' | 'framesNamed' | 'lastFrame'> => ({
  frames: async (runId, after, limit) =>
    readFrames(prepare, rowsOf, runId, { after, limit, largest: LARGEST_PAGE }),
  framesNamed: async (runId, name) => readFramesNamed(prepare, rowsOf, runId, name),
  lastFrame: async (runId) => findLastFrame(prepare, rowsOf, runId),
});

/** In order of ids. A page ends with the frame that makes it larger than `largest`, in UTF-16 units. */
function readFrames(
  prepare: Prepare,
  rowsOf: FrameTail['rowsOf'],
  runId: string,
  { after, limit, largest }: { after: number; limit: number; largest: number },
): StoredFrame[] {
  const page: StoredFrame[] = [];
  let size = 0;
  const rows = prepare(
    'SELECT id, event, data, at, state FROM frame_rows WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?',
  ).iterate(runId, after, limit) as IterableIterator<FrameRow>;
  for (const { state, ...frame } of rows) {
    const data = state === null ? prepare.coder.open(frame.data) : sweep(prepare, state).text;
    page.push({ ...frame, data });
    size += data.length;
    if (size > largest) return page;
  }
  for (const frame of readTail(prepare, rowsOf(runId), after, limit - page.length)) {
    page.push(frame);
    size += frame.data.length;
    if (size > largest) break;
  }
  return page;
}

/** A frame's name ends before the first bar of its event. In order of ids. */
function readFramesNamed(
  prepare: Prepare,
  rowsOf: FrameTail['rowsOf'],
  runId: string,
  name: string,
): StoredFrame[] {
  const isNamed = ({ event }: StoredFrame): boolean => event === name || event.startsWith(`${name}|`);
  const rows = prepare(
    `SELECT id, event, data, at, state FROM frame_rows
     WHERE run_id = @runId AND (event = @name OR substr(event, 1, length(@name) + 1) = @name || '|') ORDER BY id`,
  ).all({ runId, name }) as FrameRow[];
  return [
    ...rows.map(({ state, ...frame }) => ({
      ...frame,
      data: state === null ? prepare.coder.open(frame.data) : sweep(prepare, state).text,
    })),
    ...readTail(prepare, rowsOf(runId), -1, NO_LIMIT).filter(isNamed),
  ];
}

/** -1 when there is none. */
function findLastFrame(prepare: Prepare, rowsOf: FrameTail['rowsOf'], runId: string): number {
  const newest = rowsOf(runId).at(-1);
  return newest === undefined
    ? (prepare('SELECT coalesce(max(id), -1) FROM frame_rows WHERE run_id = ?').pluck().get(runId) as number)
    : (prepare('SELECT id FROM frame_tail WHERE seq = ?').pluck().get(newest) as number);
}

export function forgetFrames(
  prepare: Prepare,
  tail: FrameTail,
  { runId, threadId }: { readonly runId: string; readonly threadId: string },
): void {
  tail.forget(runId);
  const leaning = prepare(
    `SELECT leaning.id FROM frame_rows AS own JOIN frame_states AS leaning ON leaning.base = own.state
     WHERE own.run_id = @runId AND own.state IS NOT NULL AND leaning.id NOT IN
       (SELECT state FROM frame_rows WHERE run_id = @runId AND state IS NOT NULL)`,
  )
    .pluck()
    .all({ runId }) as number[];
  for (const id of leaning)
    prepare(
      'UPDATE frame_states SET base = NULL, anchor = id, head = 0, start = 0, kept = 0, data = @data, crc = @crc WHERE id = @id',
    ).run({ id, ...prepare.coder.columns(sweep(prepare, id).text) });
  prepare(
    'DELETE FROM frame_states WHERE id IN (SELECT state FROM frame_rows WHERE run_id = ? AND state IS NOT NULL)',
  ).run(runId);
  prepare('DELETE FROM frame_rows WHERE run_id = ?').run(runId);
  prepare('DELETE FROM frame_runs WHERE thread_id = ? AND run_id = ?').run(threadId, runId);
  prepare('DELETE FROM untracked_values WHERE run_id = ?').run(runId);
}

export function forgetThreadFrames(prepare: Prepare, tail: FrameTail, threadId: string): void {
  const runs = prepare('SELECT run_id FROM frame_runs WHERE thread_id = ?').pluck().all(threadId) as string[];
  for (const runId of runs) {
    tail.forget(runId);
    prepare('DELETE FROM frame_rows WHERE run_id = ?').run(runId);
  }
  for (const table of ['frame_runs', 'frame_states', 'untracked_values'])
    prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
}

/** The whole text of a row of `frame_states`. */
export const readFrameText = (prepare: Prepare, id: number): string => sweep(prepare, id).text;

/** The id of the row that stands for the text. */
function writeText(prepare: Prepare, threadId: string, { event, data: text, state }: NewFrame): number {
  const insert = prepare(
    `INSERT INTO frame_states (thread_id, series, base, anchor, head, start, kept, data, crc)
     VALUES (@threadId, @series, @base, @anchor, @head, @start, @kept, @data, @crc)`,
  );
  const whole = { base: null as number | null, anchor: 0, head: 0, start: 0, kept: 0, data: text };
  const put = (series: string, row = whole): number =>
    Number(insert.run({ threadId, series, ...row, ...prepare.coder.columns(row.data) }).lastInsertRowid);
  if (state === undefined) return put(ALONE);
  const [, ...path] = event.split('|');
  // The runtime gives a subgraph another id in every run, and its state goes on all the same.
  const series = path.map((step) => step.split(':', 1)[0]).join('|');
  const latest = prepare(
    'SELECT id, anchor FROM frame_states WHERE thread_id = ? AND series = ? ORDER BY id DESC LIMIT 1',
  ).get(threadId, series) as { id: number; anchor: number } | undefined;
  if (latest !== undefined) {
    const swept = sweep(prepare, latest.id);
    const overlap = findOverlap(swept.text, text);
    const cost = overlap && swept.cost + ROW + text.length - overlap.kept;
    if (overlap !== undefined && cost !== undefined && cost <= text.length * 2) {
      const { head, from: start, kept } = overlap;
      const data = text.slice(0, head) + text.slice(head + kept);
      return put(series, { base: latest.id, anchor: latest.anchor || latest.id, head, start, kept, data });
    }
    // A text that shows little of the state would only end the chain of those that show it.
    if (state === 'part' && overlap === undefined && text.length < swept.text.length) return put(ALONE);
  }
  return put(series);
}

/** Reads the rows from the text's anchor on. `cost`: of all that was read, in UTF-16 units. */
function sweep(prepare: Prepare, id: number): Swept {
  const rows = prepare(
    `SELECT below.id, below.base, below.anchor, below.head, below.start, below.kept, below.data
     FROM frame_states AS wanted JOIN frame_states AS below
       ON below.thread_id = wanted.thread_id AND below.series = wanted.series
       AND below.id BETWEEN iif(wanted.anchor = 0, wanted.id, wanted.anchor) AND wanted.id
     WHERE wanted.id = ?`,
  )
    .raw()
    .all(id) as Piece[];
  const { coder } = prepare;
  const pieces = coder.isPlain
    ? rows
    : rows.map((row): Piece => [row[0], row[1], row[2], row[3], row[4], row[5], coder.open(row[6])]);
  const cost = pieces.reduce((sum, piece) => sum + ROW + piece[6].length, 0);
  return { text: assemble(new Map(pieces.map((piece) => [piece[0], piece])), id), cost };
}

/** From the text down to the whole one below: what is still missing is always one stretch of the next base. */
function assemble(pieces: ReadonlyMap<number, Piece>, wanted: number): string {
  const front: string[] = [];
  const back: string[] = [];
  let [id, from, to] = [wanted, 0, Infinity];
  for (;;) {
    const piece = pieces.get(id);
    if (piece === undefined) throw new Error(`frame state ${wanted} leans on ${id}, which is gone`);
    const [, base, , head, start, kept, data] = piece;
    if (base === null) {
      front.push(data.slice(from, to));
      return front.join('') + back.reverse().join('');
    }
    const end = head + kept;
    if (from < head) front.push(data.slice(from, Math.min(head, to)));
    if (to > end) back.push(data.slice(Math.max(head, from - kept), to - kept));
    // Nothing of the base is left to see: an empty stretch of it is read all the same.
    [from, to] = [
      start + Math.min(kept, Math.max(0, from - head)),
      start + Math.max(0, Math.min(kept, to - head)),
    ];
    id = base;
  }
}
