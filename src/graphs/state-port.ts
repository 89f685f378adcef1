/**
 * How the server asks graph code for a thread's states and lets it change one. Plain data in and out, as in `port.ts`.
 *
 * D1 An update writes nothing by itself: what the graph wants saved comes back, and whoever asked commits all of it
 * together with the fact, or none.
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

/** The states of a namespace, newest first. With `checkpointId` only that one. */
export interface HistoryOrder extends StateOrder {
  readonly limit: number;
  /** Only states older than this checkpoint. */
  readonly before?: string;
  /** Only checkpoints whose metadata contains this. */
  readonly metadata?: JsonObject;
}

/** `values` in the name of a node, as if it had returned them; a command takes their place. */
export interface GraphUpdate {
  readonly values: Json;
  readonly asNode?: string;
  readonly command?: GraphCommand;
}

/** Starts at `checkpointId`, or at the head of the namespace. Each superstep becomes a checkpoint. */
export interface UpdateOrder extends StateOrder {
  /** Stands where checkpoints have the id of their run. */
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
      /** In the order in which it has to be stored. */
      readonly saved: readonly Saved[];
      /** The last checkpoint of the update. */
      readonly place: CheckpointRef;
      /** Nodes of the root graph still to run after the update. */
      readonly next: readonly string[];
      /** What the root state asks a person after the update, by task id. */
      readonly interrupts: Record<string, Interrupt[]>;
    }
  /** The graph does not take the update; the message is for the client. */
  | { readonly kind: 'refused'; readonly message: string };

/** Or that its states are more than one answer may hold. */
export type History<State = GraphState> = readonly State[] | 'too-large';

/** Faults of graph code reject, but for those of an update: who sent it has to hear of them. */
export interface StateHost {
  state(order: StateOrder, checkpoints: CheckpointReader): Promise<GraphState>;
  history(order: HistoryOrder, checkpoints: CheckpointReader): Promise<History>;
  update(order: UpdateOrder, checkpoints: CheckpointReader): Promise<Updated>;
}

/** Channels of what a checkpoint keeps of its tasks: notes of the runtime's and of this server's, and results. */
export const INTERRUPT = '__interrupt__';
export const RESUME = '__resume__';
export const ERROR = '__error__';
/** Of what a step sends to nodes of the next one. */
export const SENDS = '__pregel_tasks';
/** Ours: saved in one batch with the answers that a task has used, and kept from the runtime. */
export const ANSWERED_BY = '__answered_by__';

const NOTES: ReadonlySet<string> = new Set([INTERRUPT, RESUME, ANSWERED_BY, ERROR, '__scheduled__']);

/** Anything else is a task's result. */
export const isNote = (channel: string): boolean => NOTES.has(channel);
