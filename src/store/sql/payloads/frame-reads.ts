/** Reads frames. S1, S2 A frame reads byte for byte as it was written, whatever else was forgotten meanwhile. */
import type { StoredFrame } from '../../port/payloads.ts';
import { rows, type Work, type WorkContext } from '../work.ts';
import { toStoredId } from './stored-ids.ts';
import { readTexts, type TextColumns } from './text-rows.ts';

/** S3 What one reader of a stream may hold, in UTF-16 units. */
const MAX_PAGE_CHARS = 65_536;
/** Rows that are read at once: few first, because each may be long. */
const MIN_WINDOW_ROWS = 16;
const MAX_WINDOW_ROWS = 256;

export interface FramesRow extends TextColumns {
  readonly first: number;
  readonly last: number;
  readonly at: number;
  readonly parts: string;
  /** Of a text that is a difference. */
  readonly size: number | null;
}

export const FRAMES_COLUMNS = 'id, first, last, at, parts, bases, size, data';

/** Names of nodes may have line ends. */
const fromLine = (line: string): string =>
  line.replace(/\\(n|\\)/g, (_, kind) => (kind === 'n' ? '\n' : '\\'));

/** `text`: of the row. */
export function splitFrames(row: FramesRow, text: string): StoredFrame[] {
  let [at, event] = [0, ''];
  return row.parts.split('\n').map((part, index) => {
    const space = part.indexOf(' ');
    if (space >= 0) event = fromLine(part.slice(space + 1));
    const data = text.slice(at, (at += Number.parseInt(part, 10)));
    return { id: row.first + index, event, data, at: row.at };
  });
}

function* openFrames(context: WorkContext, found: readonly FramesRow[]): Work<StoredFrame[]> {
  const texts = yield* readTexts(context, 'frames', found);
  return found.flatMap((row, index) => splitFrames(row, texts[index]!));
}

/** In order of ids. A page ends with the frame that makes it larger than `MAX_PAGE_CHARS`. */
export function* readFrames(
  context: WorkContext,
  runId: string,
  after: number,
  limit: number,
): Work<StoredFrame[]> {
  const page: StoredFrame[] = [];
  let size = 0;
  let last = after;
  for (let window = MIN_WINDOW_ROWS; ; window = Math.min(window * 4, MAX_WINDOW_ROWS)) {
    const found: readonly FramesRow[] = yield rows(
      `SELECT ${FRAMES_COLUMNS} FROM frames WHERE run = ? AND last > ? ORDER BY last LIMIT ?`,
      [toStoredId(runId), last, window],
    );
    const fitting = found.slice(0, countFitting(found, after, MAX_PAGE_CHARS - size));
    for (const frame of yield* openFrames(context, fitting)) {
      if (frame.id <= after) continue;
      if (page.push(frame) >= limit) return page;
      size += frame.data.length;
      if (size > MAX_PAGE_CHARS) return page;
    }
    if (fitting.length === found.length && found.length < window) return page;
    last = fitting.at(-1)!.last;
  }
}

/** How many of the rows a page with this room takes: at least one. A row of which a reader has a part counts as short. */
function countFitting(found: readonly FramesRow[], after: number, room: number): number {
  let size = 0;
  const end = found.findIndex(
    (row) => (size += row.first <= after ? 0 : (row.size ?? row.data.length)) > room,
  );
  return end < 0 ? found.length : end + 1;
}

/** A frame's name ends before the first bar of its event. In order of ids. */
export function* readNamedFrames(context: WorkContext, runId: string, name: string): Work<StoredFrame[]> {
  const found: readonly FramesRow[] = yield rows(
    `SELECT ${FRAMES_COLUMNS} FROM frames WHERE run = ? AND replace(parts, ?, '') <> parts ORDER BY last`,
    [toStoredId(runId), ` ${name}`],
  );
  const frames = yield* openFrames(context, found);
  return frames.filter(({ event }) => event === name || event.startsWith(`${name}|`));
}

/** The highest id, -1 before the first frame. */
export function* lastFrameId(runId: string): Work<number> {
  const [row]: { last: number }[] = yield rows(
    'SELECT coalesce(max(last), -1) AS last FROM frames WHERE run = ?',
    [toStoredId(runId)],
  );
  return row!.last;
}
