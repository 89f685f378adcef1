/**
 * The session of the run that the current code belongs to: a recorder while it is recorded, a player while it is
 * executed again. Interceptors ask for it at each call; code outside of a session runs as if nothing were installed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { nodePathOf, UUIDS } from '../kernel/embedded-ids.ts';
import type { Json } from '../kernel/json.ts';
import type { ClockKind, RecordedAnswer, RecordedFailure, TaskKey } from './parts.ts';
import type { Random } from './random.ts';

/** Observes one exchange while a run is recorded. */
export interface Exchange {
  sent(chunk: Uint8Array): void;
  answered(status: number, statusText: string | undefined, headers: RecordedAnswer['headers']): void;
  received(chunk: Uint8Array): void;
  ended(failure?: RecordedFailure): void;
  /** The code itself breaks off the exchange. */
  aborted(): void;
  /** Added to requests that have none. */
  readonly idempotencyKey?: string | undefined;
}

/** Observes one batch of the item store while a run is recorded. */
export interface Batch {
  answered(answers: readonly Json[]): void;
  failed(failure: RecordedFailure): void;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
}

/** Gets an answer part by part, each in its turn. */
export interface Receiver {
  head(answer: Pick<RecordedAnswer, 'status' | 'statusText' | 'headers'>): void;
  data(chunk: Buffer): void;
  completed(): void;
  failed(error: Error): void;
}

/** What a session does with a request: answer it, or let it go to the real network. */
export type Reply =
  | {
      readonly kind: 'answer';
      /** The code broke off: nothing more of the answer is delivered. */
      readonly drop: () => void;
    }
  | {
      readonly kind: 'live';
      /** Observes the request, whose body it has. */
      readonly exchange?: Exchange | undefined;
    };

/** A timer of a re-executed run, which fires when the session says so. */
export interface VirtualTimer {
  readonly repeats: boolean;
  readonly isLive: () => boolean;
  readonly fire: () => void;
  readonly clear: () => void;
}

export type TimerName = 'setTimeout' | 'setInterval';

/** A queue of the item store's operations, which the graph library polls. */
export interface Queue {
  /** Place among the queues of the run. */
  readonly id: number;
  /** Called when a poll had an effect: the queue sends a batch, or ends. */
  onEffect: () => void;
}

/** `body`: as it came. `isCounted`: an earlier attempt's usage has it already. */
type OnAnswer = (headers: RecordedAnswer['headers'], body: Uint8Array, isCounted?: boolean) => void;

interface Shared {
  /** Number of the run's queues. */
  queues: number;
  currentTask(): TaskKey;
  /** Key of the task with this config of the library. Code within a subgraph never shows the configs around it. */
  taskOf(config: unknown): TaskKey;
  /** Random values for `bytes` bytes that the function `api` draws in the current task; undefined for real ones. */
  random(api: string, bytes: number): Random | undefined;
  /** The time to show, in whole units of the clock. */
  reading(kind: ClockKind, real: number): number;
  /** Set when the graph's library is known: its config of the current task. */
  configOf: (() => unknown) | undefined;
  /** Set when the run is known. */
  runId: string | undefined;
  /** Called for each request in its task; what it returns hears of the answer that the run's code got whole. */
  onRequest: ((request: OutgoingRequest, isServed: boolean) => OnAnswer) | undefined;
  /** The call key of the task with this config (call-keys.ts); undefined outside of tasks. */
  callKey(config: unknown): string | undefined;
}

export interface RecordingSession extends Shared {
  readonly mode: 'record';
  /** Undefined for requests that are not recorded. */
  open(request: OutgoingRequest): Exchange | undefined;
  /** Answers the current task with what an earlier attempt was answered; undefined when nothing is left of that. */
  readonly kept?: (() => Pick<ReplaySession, 'reply'> | undefined) | undefined;
  /** Absent when operations are not recorded. */
  readonly begin?: ReplaySession['begin'] | undefined;
  /** Returns what to call whenever the timer fires. Absent when timers are not recorded. */
  readonly timer?: ((name: TimerName, delayMs: number) => () => void) | undefined;
  readonly unrecorded?: ((what: string) => void) | undefined;
}

export interface ReplaySession extends Shared {
  readonly mode: 'replay';
  /** Throws when the recording has no answer. */
  reply(request: OutgoingRequest, body: Uint8Array, receiver: Receiver): Reply;
  /**
   * Counts an operation of the current task. Returns what to call when it has ended; `deliver` is then called in the
   * operation's turn. `isReal`: one that the recording does not have ends at once, others once nothing else can happen.
   */
  begin(operation: string, isReal: boolean): (deliver: () => void) => void;
  timer(name: TimerName, delayMs: number, timer: VirtualTimer): void;
  /** Called before code reaches outside of its run; throws unless that is allowed. */
  closed(what: string): void;
}

export type Session = RecordingSession | ReplaySession;

/** Tasks by the operations of the item store that they asked for: the library collects these in a queue. */
const askers = new WeakMap<object, TaskKey>();

export const noteAsker = (operation: object, task: TaskKey | undefined): void => {
  if (task !== undefined) askers.set(operation, task);
};
export const askedBy = (operation: object): TaskKey | undefined => askers.get(operation);

const queues = new AsyncLocalStorage<Queue>();

export const currentQueue = (): Queue | undefined => queues.getStore();

/** Runs the loop of a queue that polls. */
export async function insideQueue(session: Session, poll: () => Promise<void>): Promise<void> {
  const queue: Queue = { id: (session.queues += 1), onEffect: () => undefined };
  await queues.run(queue, poll);
  queue.onEffect();
}

const sessions = new AsyncLocalStorage<Session>();
const transport = new AsyncLocalStorage<'fetch' | 'socket'>();

/** The session of code that lost its asynchronous context, or never had one. */
let ofProcess: Session | undefined;

/** All code of the process belongs to the session, unless it has one of its own: in the process of a re-execution. */
export function setProcessSession(session: Session): void {
  ofProcess = session;
}

export const currentSession = (): Session | undefined => sessions.getStore() ?? ofProcess;
export const insideSession = <T>(session: Session, work: () => T): T => sessions.run(session, work);

/** Marks the sockets that `work` opens as those of a request that a session knows. */
export const inTransport = <T>(work: () => T): T => transport.run('socket', work);
export const isInTransport = (): boolean => transport.getStore() === 'socket';

/** Marks what `fetch` does itself before its request reaches a dispatcher. */
export const inFetch = <T>(work: () => T): T => transport.run('fetch', work);

/**
 * The session whose clocks and random values the current code gets. Transport has the real ones, and so has code without a
 * context, whose readings no recording has.
 */
export const clockSession = (): Session | undefined =>
  transport.getStore() === undefined ? sessions.getStore() : undefined;

/** Members of the library's configs that tell tasks. */
export interface TaskConfig {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** Where a task runs: `base` is the root checkpoint that it started from, if it has one. */
export interface TaskPlace {
  /** The checkpoint namespace with the ids of the task and those around it; empty for a run that is one task. */
  readonly ns: string;
  readonly base: string | undefined;
  readonly node: string;
}

/** Undefined outside of tasks. */
export function placeOf(config: unknown): TaskPlace | undefined {
  if (typeof config !== 'object' || config === null) return undefined;
  const { metadata = {}, configurable = {} } = config as TaskConfig;
  if (metadata['langgraph_step'] === undefined) return undefined;
  const base = (configurable['checkpoint_map'] as Record<string, unknown> | undefined)?.[''];
  return {
    ns: String(metadata['langgraph_checkpoint_ns'] ?? configurable['checkpoint_ns'] ?? ''),
    base: typeof base === 'string' ? base : undefined,
    node: String(metadata['langgraph_node'] ?? ''),
  };
}

export interface TaskKeys {
  /** Key of the task with this config of the library; empty outside of tasks. */
  keyOf(config: unknown): TaskKey;
  /** Notes the task without making its key: the keys of tasks within it contain its position. */
  note(config: TaskConfig): void;
  /** Node of a task whose key was asked for, by the task's id. */
  nodeOf(taskId: string): string | undefined;
}

interface NotedTask {
  readonly step: unknown;
  readonly path: unknown;
  key?: TaskKey;
}

export function openTaskKeys(): TaskKeys {
  /** By namespace: the tasks of a subgraph have those of the tasks around them in theirs. */
  const tasks = new Map<string, NotedTask>();
  const nodes = new Map<string, string>();
  /** Code reads the clock several times in a row with one config. */
  let last: { readonly config: unknown; readonly key: TaskKey } | undefined;

  const pushOf = ({ path = null }: NotedTask): string => {
    const text = JSON.stringify(path).replace(UUIDS, '');
    return text.includes('__pregel_push') ? ` ${text}` : '';
  };
  const positionOf = (task: NotedTask | undefined): string =>
    task === undefined ? '' : ` ${String(task.step)}${pushOf(task)}`;

  function noted({ metadata = {}, configurable = {} }: TaskConfig): readonly [string, NotedTask] | undefined {
    const step = metadata['langgraph_step'];
    if (step === undefined) return undefined;
    const ns = String(metadata['langgraph_checkpoint_ns'] ?? configurable['checkpoint_ns'] ?? '');
    let task = tasks.get(ns);
    const path = metadata['langgraph_path'];
    if (task === undefined || task.step !== step || task.path !== path)
      tasks.set(ns, (task = { step, path }));
    return [ns, task];
  }

  function toKey(config: TaskConfig): TaskKey {
    const found = noted(config);
    if (found === undefined) return '';
    const [ns, task] = found;
    if (task.key !== undefined) return task.key;
    const [node, taskId] = ns.slice(ns.lastIndexOf('|') + 1).split(':');
    if (taskId !== undefined) nodes.set(taskId, node!);
    const around = [...ns.matchAll(/\|/g)].map(({ index }) => positionOf(tasks.get(ns.slice(0, index))));
    const name = nodePathOf(ns) || String(config.metadata?.['langgraph_node'] ?? '');
    return (task.key = `${String(task.step)} ${name}${pushOf(task)}${around.join('')}`);
  }

  return {
    keyOf(config) {
      if (typeof config !== 'object' || config === null) return '';
      if (last?.config !== config) last = { config, key: toKey(config) };
      return last.key;
    },
    note: (config) => void noted(config),
    nodeOf: (taskId) => nodes.get(taskId),
  };
}
