/** What the server and a graph worker ask of each other. Plain data only: every call crosses threads. */
import type { GraphProblem, GraphSpec } from '../loader.ts';
import type {
  CheckpointQuery,
  Frame,
  GraphState,
  LoadedCheckpoint,
  NewCheckpoint,
  PendingWrite,
  RunEnd,
  RunOrder,
  StateOrder,
  StopReason,
} from '../port.ts';
import type { GraphDrawing, GraphOrder, GraphSchemas, SubgraphOrder } from '../schema-port.ts';
import type { SourceReport } from '../schemas/source-report.ts';
import type { History, HistoryOrder, Updated, UpdateOrder } from '../state-port.ts';
import type { StoreAnswer, StoreRequest } from '../store-port.ts';
import type { Rpc, WireError } from './rpc.ts';

/** Handed to a worker when it starts. */
export interface WorkerSetup {
  readonly graphs: readonly GraphSpec[];
  /** How long a module may take to load, in milliseconds; when it is not known, what hangs ends the thread. */
  readonly moduleMs?: number;
  /** The address under which a client without one finds this server. */
  readonly base: string;
  /** 32-bit numbers: what stands where is said below. */
  readonly pulse: SharedArrayBuffer;
}

/** Raised by the worker while its event loop turns. */
export const BEATS = 0;
/** From here on the runs that were given to the worker and that it has not begun, by their job (offers.ts). */
export const OFFERS = 1;
/** For more runs than anybody gives to a worker before it begins one. */
export const PULSE_BYTES = 4 * (OFFERS + 1_022);

/** By the symbol of this name a worker tells the debugger for which job its code works. */
export const CURRENT_JOB = 'rewound.job';

/** Asks a worker, over its channel, to end its thread. */
export const LEAVE = 'leave';

/** What a worker says once it has loaded the graphs. */
export interface Loaded {
  readonly graphIds: readonly string[];
  /** Those of them whose library was found. */
  readonly withLibrary: readonly string[];
  readonly problems: readonly GraphProblem[];
}

/** A head that was read along with the order, so that the run need not ask: undefined inside means there is none. */
export interface KnownHead {
  readonly head: LoadedCheckpoint | undefined;
}

/** What a run writes. */
export type JobWrite =
  | { readonly kind: 'frames'; readonly frames: readonly Frame[] }
  | { readonly kind: 'checkpoint'; readonly checkpoint: NewCheckpoint }
  | {
      readonly kind: 'writes';
      readonly ns: string;
      readonly checkpointId: string;
      readonly writes: readonly PendingWrite[];
    };

/** `job` names what a worker does for the server: its requests carry it. */
export interface WorkerSide {
  /** `isOffered`: the server may have taken it back before it is begun, and does not hear of it then. */
  run(job: number, order: RunOrder, isOffered: boolean, known?: KnownHead): Promise<RunEnd>;
  /** Values are JSON as text, which crosses threads as one piece. */
  state(job: number, order: StateOrder): Promise<GraphState<string>>;
  history(job: number, order: HistoryOrder): Promise<History<GraphState<string>>>;
  update(job: number, order: UpdateOrder): Promise<Updated>;
  drawing(job: number, order: GraphOrder, xray: boolean | number): Promise<GraphDrawing>;
  schemas(job: number, order: GraphOrder): Promise<GraphSchemas>;
  subgraphs(job: number, order: SubgraphOrder): Promise<Record<string, GraphSchemas>>;
  /** Wants no answer: the run's end is one. */
  abort(job: number, reason: StopReason): void;
  base(url: string): void;
}

/** Asked as a job of this number. */
export type Question<T> = (side: WorkerSide, job: number) => Promise<T>;

export interface ServerSide {
  ready(loaded: Loaded): void;
  load(job: number, ns: string, checkpointId?: string): Promise<LoadedCheckpoint | undefined>;
  list(job: number, query: CheckpointQuery): Promise<LoadedCheckpoint[]>;
  /** Resolves when the server has taken the write and all before it. */
  write(job: number, write: JobWrite): Promise<void>;
  /** The same without an answer: a failure is told with a later write, or is the end of the run. */
  pass(job: number, write: JobWrite): void;
  batch(job: number, requests: readonly StoreRequest[]): Promise<readonly StoreAnswer[]>;
  begun(job: number): Promise<void>;
  source(file: string, exportName: string): Promise<SourceReport | undefined>;
  /** Graph code goes on although its run is over, or (-1) has come to its end after all. Wants no answer. */
  leftover(change: 1 | -1): void;
  /** The worker has loaded this file of the project. Wants no answer. */
  file(path: string): void;
  /** Something that graph code let happen without anybody to hear it. Wants no answer. */
  stray(error: WireError, context: string): void;
  openReply(id: number, request: WireRequest): Promise<WireReply>;
  /** The next piece of the reply's body, null at its end. */
  readReply(id: number): Promise<Uint8Array | null>;
  /** Nobody reads the reply any more. Wants no answer. */
  dropReply(id: number): void;
}

export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

export interface WireReply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly hasBody: boolean;
}

/** The methods of the other side, each an RPC. `notes` are those that want no answer. */
export function toRemote<Side extends object>(rpc: Rpc, notes: ReadonlySet<string>): Side {
  return new Proxy({} as Side, {
    get: (_, name) => {
      const method = String(name);
      return notes.has(method) ? rpc.note.bind(rpc, method) : rpc.call.bind(rpc, method);
    },
  });
}

export const WORKER_NOTES: ReadonlySet<string> = new Set(['abort', 'base']);
export const SERVER_NOTES: ReadonlySet<string> = new Set([
  ...['ready', 'pass', 'leftover', 'file', 'stray', 'dropReply'],
]);
