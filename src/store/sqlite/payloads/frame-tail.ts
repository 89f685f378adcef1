/**
 * The newest frames of open runs, in the order in which they were committed. A frame's own place is beside the others of
 * its run, so a commit with frames of a hundred runs would write a hundred pages; here it writes a few. A run's frames
 * move to their places many at a time, and all when it ends.
 *
 * S1 What has moved of a run comes before what has not. L3 Copies of what has moved are dropped from the front of the
 * table soon; a run that is forgotten leaves none.
 *
 * Danger: what is remembered of rows that were written within a transaction that is undone is wrong. Then the table is
 * read anew.
 */
import type { StoredFrame } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';

/** So many frames of a run fill a page or two. */
const MAX_OF_RUN = 32;
/** A run that writes seldom does not keep the table from being cut. */
const LONGEST = 8192;
/** As many rows are dropped at once, at least. */
const CUT = 512;

export interface FrameTail {
  /** Keys of the run's rows that have not moved, in order of their frames. */
  rowsOf(runId: string): readonly number[];
  /** Throws `RangeError` for an id that is not above those that the run has. */
  add(runId: string, frame: StoredFrame): void;
  /** The run's rows move. */
  settle(runId: string): void;
  forget(runId: string): void;
  /** Writes of the transaction are undone. */
  undone(): void;
}

/** Rows of one run that have not moved. */
interface Newer {
  readonly seqs: number[];
  /** The id of the frame in the last of them. */
  lastId: number;
}

interface Known {
  /** The run with the oldest row first. */
  readonly open: Map<string, Newer>;
  /** The last row that has moved, by run. */
  readonly moved: Map<string, number>;
  first: number;
  next: number;
}

/** For the one connection that writes. */
export function createFrameTail(prepare: Prepare): FrameTail {
  let known: Known | undefined;

  function survey(): Known {
    if (known !== undefined) return known;
    const rows = prepare(
      `SELECT seq, run_id AS runId, id,
         id > coalesce((SELECT max(id) FROM frame_rows WHERE frame_rows.run_id = frame_tail.run_id), -1) AS isOpen
       FROM frame_tail ORDER BY seq`,
    ).all() as { seq: number; runId: string; id: number; isOpen: 0 | 1 }[];
    known = {
      open: new Map(),
      moved: new Map(),
      first: rows[0]?.seq ?? 1,
      next: (rows.at(-1)?.seq ?? 0) + 1,
    };
    for (const { seq, runId, id, isOpen } of rows)
      if (isOpen === 0) known.moved.set(runId, seq);
      else note(known, runId, seq, id);
    return known;
  }

  /** How many rows the run has. */
  function note({ open }: Known, runId: string, seq: number, id: number): number {
    const newer = open.get(runId) ?? { seqs: [], lastId: id };
    open.set(runId, newer);
    newer.lastId = id;
    return newer.seqs.push(seq);
  }

  const lastOf = (runId: string): number =>
    survey().open.get(runId)?.lastId ??
    (prepare('SELECT coalesce(max(id), -1) FROM frame_rows WHERE run_id = ?').pluck().get(runId) as number);

  function move(runId: string): void {
    const { open, moved } = survey();
    const seqs = open.get(runId)?.seqs;
    if (seqs === undefined) return;
    prepare(
      `INSERT INTO frame_rows SELECT run_id, id, event, data, crc, at, NULL FROM frame_tail
       WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    ).run(JSON.stringify(seqs));
    open.delete(runId);
    moved.set(runId, seqs.at(-1)!);
  }

  function cut(): void {
    const { open, moved, first, next } = survey();
    const oldest = open.values().next().value?.seqs[0] ?? next;
    if (oldest === first || (open.size > 0 && oldest - first < CUT)) return;
    prepare('DELETE FROM frame_tail WHERE seq < ?').run(oldest);
    survey().first = oldest;
    for (const [runId, seq] of moved) if (seq < oldest) moved.delete(runId);
  }

  function settle(runId: string): void {
    move(runId);
    cut();
  }

  return {
    rowsOf: (runId) => survey().open.get(runId)?.seqs ?? [],
    add(runId, { id, event, data, at }) {
      const of = survey();
      if (id <= lastOf(runId)) throw new RangeError(`S1 run ${runId} has a frame ${id} already`);
      const seq = of.next++;
      const { data: stored, crc } = prepare.coder.columns(data);
      prepare('INSERT INTO frame_tail VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        seq,
        runId,
        id,
        event,
        stored,
        crc,
        at,
      );
      if (note(of, runId, seq, id) >= MAX_OF_RUN) settle(runId);
      else if (seq - of.first >= LONGEST) settle(of.open.keys().next().value!);
    },
    settle,
    forget(runId) {
      const { open, moved } = survey();
      if (!open.has(runId) && !moved.has(runId)) return;
      prepare('DELETE FROM frame_tail WHERE run_id = ?').run(runId);
      open.delete(runId);
      moved.delete(runId);
    },
    undone() {
      known = undefined;
    },
  };
}

/** Frames of these rows of the table above an id, in order. */
export function readTail(
  prepare: Prepare,
  seqs: readonly number[],
  after: number,
  limit: number,
): StoredFrame[] {
  if (seqs.length === 0) return [];
  const rows = prepare(
    `SELECT id, event, data, at FROM frame_tail
     WHERE seq IN (SELECT value FROM json_each(?)) AND id > ? ORDER BY seq LIMIT ?`,
  ).all(JSON.stringify(seqs), after, limit) as StoredFrame[];
  const { coder } = prepare;
  return coder.isPlain ? rows : rows.map((row) => ({ ...row, data: coder.open(row.data) }));
}

/** `rowsOf` for whoever does not write: reads the whole table. */
export const findTail =
  (prepare: Prepare): FrameTail['rowsOf'] =>
  (runId) =>
    prepare(
      `SELECT seq FROM frame_tail WHERE run_id = @runId
         AND id > coalesce((SELECT max(id) FROM frame_rows WHERE run_id = @runId), -1) ORDER BY seq`,
    )
      .pluck()
      .all({ runId }) as number[];
