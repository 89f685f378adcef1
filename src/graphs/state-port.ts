/**
 * The part of the graph port (`port.ts`) that reads and updates thread states. Plain data only.
 *
 * D1 An update writes nothing: it returns the checkpoints to save, and the caller commits them together with the event.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type {
  CheckpointReader,
  CheckpointRef,
  GraphCommand,
  GraphState,
  Interrupt,
  NewCheckpoint,
  PendingWrite,
  StateOrder,
} from './port.ts';

/** Selects the states of a namespace, newest first; `checkpointId` selects only that one. */
export interface HistoryOrder extends StateOrder {
  readonly limit: number;
  /** Only states older than this checkpoint. */
  readonly before?: string;
  /** Only checkpoints whose metadata contains these entries. */
  readonly metadata?: JsonObject;
}

/** Applies `values` as if the node `asNode` had returned them; `command` replaces `values`. */
export interface GraphUpdate {
  readonly values: Json;
  readonly asNode?: string;
  readonly command?: GraphCommand;
}

/** Starts at `checkpointId`, or at the head of the namespace. Each superstep becomes a checkpoint. */
export interface UpdateOrder extends StateOrder {
  /** Replaces the run id in the checkpoints of the update. */
  readonly updateId: string;
  readonly supersteps: readonly (readonly GraphUpdate[])[];
}

export type Saved =
  | { readonly kind: 'checkpoint'; readonly checkpoint: NewCheckpoint }
  | {
      readonly kind: 'writes';
      readonly ns: string;
      readonly checkpointId: string;
      readonly writes: readonly PendingWrite[];
    };

export type Updated =
  | {
      readonly kind: 'updated';
      /** Writes to commit, in this order. */
      readonly saved: readonly Saved[];
      /** The last checkpoint of the update. */
      readonly place: CheckpointRef;
      /** Nodes of the root graph still to run after the update. */
      readonly next: readonly string[];
      /** Pending interrupts of the root graph after the update, by task id. */
      readonly interrupts: Record<string, Interrupt[]>;
    }
  /** Graph code rejected the update; the message is for the client. */
  | { readonly kind: 'refused'; readonly message: string };

/** `too-large` if the states exceed the size limit of one response. */
export type History<State = GraphState> = readonly State[] | 'too-large';

/** `state` and `history` reject when graph code throws; `update` resolves with `refused`, for the client. */
export interface StateHost {
  state(order: StateOrder, checkpoints: CheckpointReader): Promise<GraphState>;
  history(order: HistoryOrder, checkpoints: CheckpointReader): Promise<History>;
  update(order: UpdateOrder, checkpoints: CheckpointReader): Promise<Updated>;
}

/** Special channels of pending writes. */
export const INTERRUPT = '__interrupt__';
export const RESUME = '__resume__';
export const ERROR = '__error__';
/** The runtime's node that distributes the input. */
export const START_NODE = '__start__';
/** The runtime's tag of code that no trace shows. */
export const HIDDEN_TAG = 'langsmith:hidden';
/** `Send` packets for the next step. */
export const SENDS = '__pregel_tasks';
/** This server's own channel: saved in one batch with the resume values that a task used; hidden from the runtime. */
export const RESUMED_BY = '__answered_by__';

const NOTES: ReadonlySet<string> = new Set([INTERRUPT, RESUME, RESUMED_BY, ERROR, '__scheduled__']);

/** True for writes about a task; writes to any other channel are its result. */
export const isNote = (channel: string): boolean => NOTES.has(channel);
