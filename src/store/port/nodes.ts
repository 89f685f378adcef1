/**
 * Servers that share a store. A node is one life of a server on it; a server that was cut off goes on as another node.
 *
 * X1 A node that lives keeps what it executes or has reserved. One that could not say for `MAX_SILENCE_MS` that it lives is
 * cut off: it ends what it executes before `NODE_TTL_MS` have passed and another node takes that over.
 */

/** Time after which a node that has said nothing is gone, by the store's clock. */
export const NODE_TTL_MS = 15_000;
/** Time without a renewal after which a node is cut off, by its own monotonic clock. */
export const MAX_SILENCE_MS = 10_000;
export const RENEWAL_MS = 5_000;

export interface NodeRecord {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds since 1970. */
  readonly renewedAt: number;
}

/** A thread whose run no living node executes. */
export interface Orphan {
  readonly threadId: string;
  /** The node that executed the run; null when that is not known. */
  readonly holder: string | null;
  /** Its server lives: it was cut off and goes on as another node. */
  readonly isAlive: boolean;
}

export type Due = 'runs' | 'crons' | 'deliveries';

/** All that a node looks for from time to time. */
export interface Outlook {
  /** Kinds of which something may be due. */
  readonly due: ReadonlySet<Due>;
  /** The next time at which something becomes due. */
  readonly next: number | undefined;
  /** A run executes on no living node. */
  readonly hasOrphans: boolean;
  /** Number of threads with a run that this node executes, as the log says. */
  readonly held: number;
}

export interface Nodes {
  /** This node; undefined while it is cut off, when it may start nothing. */
  readonly id: string | undefined;
  /** Other nodes may use the store too. */
  readonly isShared: boolean;
  /** Those that live. */
  all(): Promise<NodeRecord[]>;
  /** Number of those that lived at the last `look`. */
  readonly count: number;
  look(now: number): Promise<Outlook>;
  onCutOff(listener: () => void): () => void;
  /** Threads of which a run may start by `now`, longest due first. Other nodes are not given them for a while. */
  claimThreads(now: number, limit: number): Promise<string[]>;
  /** Threads with a run that executes on no living node. Other nodes are not given them for a while. */
  takeOver(): Promise<Orphan[]>;
  /** Whether a node that was gone turned out to live: its server goes on as another node. */
  hasReturned(id: string): Promise<boolean>;
  /** Threads with a run that this node executes, as the log says. */
  held(): Promise<string[]>;
  /** Those of the tasks that no other living node works at. They are this node's until it is gone or `release`s them. */
  reserve(tasks: readonly string[]): Promise<readonly string[]>;
  /** Never rejects: what this node keeps by mistake it is given again. */
  release(task: string): Promise<void>;
}

/** Does `work` unless another node is at the same task. Returns undefined then. */
export async function whenReserved<T>(
  nodes: Nodes,
  task: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if ((await nodes.reserve([task])).length === 0) return undefined;
  try {
    return await work();
  } finally {
    await nodes.release(task);
  }
}
