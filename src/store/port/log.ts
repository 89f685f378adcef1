/**
 * The event log's port. One writer commits declared batches; nothing of a batch runs user code.
 *
 * L1 A commit is all or nothing and durable before its promise settles or anyone is told.
 * L2 A stream's versions are 1..n; a batch names the version it was decided on.
 * L4 A failed commit is of unknown outcome: the writer stops for good and `onPoisoned` fires. One exception: on a full
 *    disk a commit that was rolled back before anything was synced is not done. The command id of a repeatable batch
 *    returns the first receipt.
 * P1 Rows derived from the events are written in the same transaction.
 * X2 A batch with a lease is refused when that lease is no longer the run's.
 */
import type { Json } from '../../kernel/json.ts';
import type { DomainEvent, Recorded } from './events.ts';
import type { Nodes } from './nodes.ts';
import type { PayloadReader, PayloadWrite, StoredFrame } from './payloads.ts';
import type { Views } from './views/views.ts';

export interface Append {
  readonly stream: string;
  /** The version the decision was made on: 0 for a stream that must not exist yet. */
  readonly expected: number;
  readonly events: readonly DomainEvent[];
  /**
   * Times of the first events that happened before they came to this log, milliseconds since 1970. The others happen in
   * the commit.
   */
  readonly times?: readonly number[];
  /** The stream's folded state after these events: where the next reader starts. Not every append has one. */
  readonly snapshot?: Json;
}

/** The receipt of a batch that may be repeated. `first` and `last` are the positions of its events. */
export interface KeptReceipt {
  readonly commandId: string;
  readonly first: number;
  readonly last: number;
  readonly at: number;
}

/** Facts of another log, with the positions, times and command ids that they have there, for a log without facts. */
export interface Moved {
  /** In order of stream and version. */
  readonly events: readonly Recorded[];
  readonly receipts: readonly KeptReceipt[];
}

export interface Lease {
  readonly runId: string;
  readonly attempt: number;
  readonly leaseId: string;
}

export interface Batch {
  readonly commandId: string;
  /** Somebody may ask with this id again, so a receipt is kept. Not for an id that was drawn for this batch alone. */
  readonly repeatable?: boolean;
  /** Small, and needed for the server to start or to come to rest: tried on a full disk too, as deletions are. */
  readonly isVital?: boolean;
  /** The batch brings what happened elsewhere: listeners are not told of its events and frames. */
  readonly isPast?: boolean;
  /** Identity of the authenticated caller; every event of the batch keeps it. */
  readonly by?: string | undefined;
  readonly appends: readonly Append[];
  readonly payloads?: readonly PayloadWrite[];
  readonly lease?: Lease;
  /** For a batch without appends. */
  readonly moved?: Moved;
}

export interface Receipt {
  readonly events: readonly Recorded[];
  readonly at: number;
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly receipt: Receipt }
  | { readonly kind: 'duplicate'; readonly receipt: Receipt }
  | { readonly kind: 'version-conflict'; readonly stream: string }
  | { readonly kind: 'fenced-out' }
  | { readonly kind: 'unknown-outcome'; readonly cause: string }
  /** The disk is full and nothing of the batch was written. */
  | { readonly kind: 'not-done'; readonly cause: string };

/** What a commit changed, told after it is durable. A hint: whoever misses it finds the same by reading. */
export interface Notice {
  /** Number of notices since the log was opened, this one included: a listener sees whether it missed one. */
  readonly count: number;
  readonly events: readonly Recorded[];
  /** New frames of each run, in order, as a read finds them. */
  readonly frames: ReadonlyMap<string, readonly StoredFrame[]>;
  /** Values that runs showed at their ends and that no checkpoint holds, as JSON text. */
  readonly untracked: ReadonlyMap<string, string>;
  /** The first time at which one of these threads becomes due; absent for none, and for now. */
  readonly dueAt?: number;
  /** Present where other nodes changed something too. Their events are not in `events`; frames of followed runs are in `frames`. */
  readonly elsewhere?: Elsewhere;
}

/** What other nodes changed: read it. */
export interface Elsewhere {
  /** Followed threads in which more happened than saved checkpoints. */
  readonly threads: ReadonlySet<string>;
  /** A run may start that the node which committed it did not start. */
  readonly mayStart: boolean;
}

export interface Followed {
  readonly threadId: string;
  /** Its frames are followed too. */
  readonly runId?: string;
}

export interface Snapshot {
  readonly version: number;
  readonly state: Json;
}

/** A log without facts into which those of another one are moved. Until the end nothing else opens it. */
export interface LogImport {
  readonly log: EventLog;
  /** Closes the log, which is like any other then. */
  complete(): Promise<void>;
}

export interface EventLog {
  /** The log's address as people see it, without a password. */
  readonly place: string;
  /** Resolves with the size of the log in bytes. */
  bytes(): Promise<number>;
  /** Never rejects for a refusal; rejects when the batch itself is malformed (nothing of it is written then). */
  commit(batch: Batch): Promise<CommitResult>;
  /** Events of one stream from a version on, in order. */
  readStream(stream: string, from: number, limit: number): Promise<Recorded[]>;
  /** Events of all streams after a position, in order. */
  readAll(after: number, limit: number): Promise<Recorded[]>;
  loadSnapshot(stream: string): Promise<Snapshot | undefined>;
  /** Version of the stream's last event, 0 without events. */
  streamVersion(stream: string): Promise<number>;
  /** `listener` runs after the commit's own promise has settled; what it throws goes to `onFault`. */
  onCommitted(listener: (notice: Notice) => void): () => void;
  /**
   * Asks that notices tell what other nodes do to a thread, until the returned function is called. Call it before reading, or
   * a change is missed. A log of one process has nothing to tell.
   */
  follow(what: Followed): () => void;
  onPoisoned(listener: (cause: string) => void): () => void;
  readonly payloads: PayloadReader;
  readonly views: Views;
  readonly nodes: Nodes;
  /** Waits for commits under way, then closes. A commit after that is of unknown outcome. */
  close(): Promise<void>;
}
