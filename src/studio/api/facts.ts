/** Facts of a thread: its events, by version 1..n. */
import { ask } from './http.ts';
import type { Json, JsonObject, Question, RunError, Usage } from './types.ts';

/** A failure with its place in the code. */
interface Failure extends RunError {
  /** Nodes from the root graph to the one that failed, joined by `|`. */
  readonly node?: string;
  readonly channel?: string;
  readonly step?: number;
  readonly remedy?: string;
  readonly stack?: string;
}

export interface Fact {
  readonly version: number;
  readonly type: string;
  readonly at: string;
  /** Time at which the graph made the checkpoint, before it was saved. */
  readonly made_at?: string;
  readonly by?: string;
  /** The content was deleted. */
  readonly erased?: true;
  readonly run_id?: string;
  readonly attempt?: number;
  readonly graph_id?: string;
  readonly assistant_id?: string;
  readonly kwargs?: JsonObject;
  readonly reason?: string;
  readonly lost?: boolean;
  readonly checkpoint_ns?: string;
  readonly checkpoint_id?: string | null;
  readonly parent_checkpoint_id?: string | null;
  readonly step?: number;
  readonly source?: string;
  /** Nodes that led to the checkpoint. */
  readonly nodes?: readonly string[];
  readonly usage?: Usage;
  readonly outcome?: 'success' | 'error' | 'timeout' | 'cancelled' | 'rolled-back';
  readonly error?: Failure;
  readonly next?: readonly string[];
  readonly interrupts?: Readonly<Record<string, readonly Question[]>>;
  readonly warnings?: readonly { readonly message: string; readonly step?: number }[];
  readonly from?: Json;
}

export interface FactPage {
  /** Ordered by version. */
  readonly events: readonly Fact[];
  /** The thread's last version. */
  readonly last: number;
}

export interface FactChoice {
  readonly after?: number;
  readonly before?: number;
  readonly limit: number;
}

export const readFacts = (threadId: string, { after, before, limit }: FactChoice): Promise<FactPage> =>
  ask(`/threads/${threadId}/events`, { query: { after, before, limit } });

/** Milliseconds since 1970. */
export const timeOf = ({ at, made_at: made }: Fact): number => Date.parse(made ?? at);
