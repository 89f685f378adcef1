/**
 * The log as a past: what looking back asks of it. It is read-only, with no way to write or to start anything (R1), and
 * everything is read at one moment.
 */
import type { CheckpointKey, ThreadEvent } from '../../thread/events.ts';
import type { Recorded } from './events.ts';
import type { PayloadReader, WriteText } from './payloads.ts';
import type { OwnWrite, Row } from './rows.ts';
import type { ThreadRecord } from './views/threads.ts';
import type { Views } from './views/views.ts';

/** A broken invariant, with the position of the event that shows it. */
export interface Finding {
  readonly position: number | undefined;
  readonly problem: string;
}

export interface StoredSnapshot {
  readonly version: number;
  /** JSON text. */
  readonly state: string;
}

export interface History {
  readStream(stream: string, from: number, limit: number): Promise<Recorded[]>;
  readAll(after: number, limit: number): Promise<Recorded[]>;
  snapshot(stream: string): Promise<StoredSnapshot | undefined>;
  readonly payloads: PayloadReader;
  readonly views: Views;
  readonly past: PastViews;
  /** The writes of an event as if every thread had a row. */
  project(event: Recorded<ThreadEvent>): readonly OwnWrite[];
  /** The thread whose row it is, undefined when no client sees it. */
  threadOf(row: Row): ThreadRecord | undefined;
  /**
   * P2 Folds every row from the log, stream by stream, and returns the first that differs from the live one. `onEvents`
   * hears of all events in order of stream and version; as soon as it returns false, the work ends and finds nothing.
   */
  firstDifference(onEvents?: OnEvents): Promise<RowDifference | undefined>;
  /** Number of events in the log, not of their positions: purges leave gaps. */
  eventCount(): Promise<number>;
  /** What is wrong with the structure of the file, undefined when nothing is. Reads all of it. */
  damage(): Promise<string | undefined>;
  /** The part of this log that `verify` does not check; undefined: it checks all. */
  readonly leavesOut: string | undefined;
  checkContent(): ContentCheck;
  close(): Promise<void>;
}

/** Compares content with events, rows and its checksums. */
export interface ContentCheck {
  /** Takes all events, page by page, in order of stream and version. */
  add(events: readonly Recorded[]): Promise<void>;
  /** Call behind the last event. */
  finding(): Promise<Finding | undefined>;
}

export type OnEvents = (page: readonly Recorded[]) => Promise<boolean>;

export interface ListedRow {
  readonly thread_id: string;
  readonly status: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly graph_id: string | null;
  /** JSON text. */
  readonly error: string | null;
  readonly runs: number;
  readonly events: number;
  /** 1: the thread of a stateless run, or one that a cron made and only its runs used. */
  readonly is_side: number;
}

interface ThreadHead {
  readonly threadId: string;
  readonly head: string;
}

export interface PastViews {
  /** The position of the last event, 0 of an empty log. */
  lastPosition(): Promise<number>;
  /** Newest first. */
  threads(): Promise<ListedRow[]>;
  /** The ids of at most `limit` streams of threads whose id begins with `prefix`, deleted threads too. */
  threadIds(prefix: string, limit: number): Promise<string[]>;
  /** The ids of at most `limit` runs whose id begins with `prefix`. */
  runIds(prefix: string, limit: number): Promise<string[]>;
  /** Head checkpoints of the next threads in order of their ids. */
  heads(after: string, limit: number): Promise<ThreadHead[]>;
  /** The position of the last event that saved the head. */
  savedAt(head: ThreadHead): Promise<number | undefined>;
  deliveryIds(threadId: string): Promise<string[]>;
  /** Crons that the thread belongs to, or whose runs it has. */
  cronIds(threadId: string): Promise<string[]>;
  tasks(threadId: string): Promise<TaskOutline[]>;
  /** Writes on the thread's checkpoints, those of one run or on one checkpoint, in the order in which they were saved. */
  writes(threadId: string, of: WriteChoice): Promise<PlacedWrite[]>;
  /** Which runs have writes on which checkpoints of the thread. */
  writers(threadId: string): Promise<Writer[]>;
}

export interface TaskOutline {
  readonly ns: string;
  /** The checkpoint that the task worked from. */
  readonly checkpointId: string;
  /** The place of the task in its step, as the graph's runtime names it. */
  readonly path: string;
  /** The calls of nodes that the task asked for, as stored. */
  readonly sends: readonly string[];
}

export type WriteChoice = { readonly runId: string } | CheckpointKey;

export interface PlacedWrite extends WriteText, CheckpointKey {
  readonly runId: string;
}

export interface Writer extends CheckpointKey {
  readonly runId: string;
}

export interface RowDifference {
  readonly table: string;
  readonly key: string;
  /** The last event that wrote the row; undefined when no event of the log did, or the row is made from other rows. */
  readonly position: number | undefined;
  readonly live: Row | undefined;
  readonly rebuilt: Row | undefined;
}

/** The rows are those of another version of the program: that is no damage, and the next start makes them anew. */
export class RowsOutdated extends Error {
  constructor(found: string | undefined, expected: string) {
    super(
      `the rows of this log are of version ${found ?? 'none'}, those of this program of version ${expected}; ` +
        'start the server once, which makes them anew, and verify again',
    );
    this.name = 'RowsOutdated';
  }
}
