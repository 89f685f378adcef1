/**
 * X7 Keeps what one attempt at a run is answered, so that the next attempt asks none of it again, and serves what earlier
 * attempts kept. It observes the same requests as the recorder, which it passes everything on to where the run is recorded.
 *
 * Tasks have the clocks and random values of the attempt before: requests that contain these are equal then. Code outside of
 * tasks is not repeated alike, so it has the real ones, and its calls are not kept.
 */
import { callKeyOf } from './call-keys.ts';
import { both } from './exchange-pair.ts';
import { openKeptAnswers, type KeptTask } from './kept-answers.ts';
import { digestOfCall, packKept, type KeptAnswer, type KeptCall, type KeptPart } from './kept-calls.ts';
import { openKeptReads, type Ask } from './kept-reads.ts';
import { loadingModule } from './module-loading.ts';
import { openDelivery } from './kept-delivery.ts';
import { openTaskClocks, type TaskClocks } from './task-clocks.ts';
import type { RecordedFailure } from './parts.ts';
import { openRandoms } from './random.ts';
import type { Recorder } from './recorder.ts';
import {
  askedBy,
  openTaskKeys,
  placeOf,
  type Exchange,
  type OutgoingRequest,
  type Receiver,
  type RecordingSession,
  type Reply,
  type TaskConfig,
  type TaskPlace,
} from './session.ts';
import { isTokenAnswer, isTokenRequest } from './tokens.ts';
import { isTracing } from './tracing.ts';

export interface KeeperOptions {
  readonly attempt: number;
  readonly charges: number;
  /** Unless earlier attempts have had another one. */
  readonly seed: string;
  readonly maxBytes: number;
  /** Requests without an idempotency key get one. */
  readonly keys: boolean;
  /** Calls that earlier attempts kept. */
  readonly kept: readonly KeptPart[];
  /** Its size in the log. */
  readonly keptBytes: number;
  readonly recorder?: Recorder | undefined;
  /** `base`: the root checkpoint that the task started from; absent where the run has none for its steps. */
  readonly write: (part: Uint8Array, base: string | undefined, isAnswer: boolean) => void;
}

/** What the attempt was served in one task, and what it asked again because no answer had come: numbers of calls, from 1. */
interface TaskCalls {
  readonly node: string;
  readonly served: readonly number[];
  readonly again: readonly number[];
}

export interface Keeper extends RecordingSession {
  /** A root checkpoint was saved: what tasks before it were answered is not needed any more. */
  saved(checkpointId: string): void;
  /** Answers a batch of the item store, by `ask` where earlier attempts have read nothing. */
  read<R extends object, A>(requests: readonly R[], ask: Ask<R, A>): Promise<A[]>;
  repeated(): readonly TaskCalls[];
}

interface Call {
  readonly digest: () => string;
}

interface Task extends TaskCalls {
  readonly ns: string;
  /** Made when a call needs it. */
  readonly names: () => string;
  readonly base: string | undefined;
  readonly kept: KeptTask | undefined;
  readonly calls: Call[];
  readonly clocks: TaskClocks;
  readonly served: number[];
  readonly again: number[];
}

/** Enough for people who read the story of a run. */
const MAX_TOLD_TASKS = 100;

export function openKeeper(options: KeeperOptions): Keeper {
  const { attempt, charges, maxBytes, recorder } = options;
  const earlier = openKeptAnswers(options.kept, charges);
  const seed = earlier.seed ?? options.seed;
  const randomFor = openRandoms(seed);
  const { keyOf: namesOf, note } = openTaskKeys();
  const tasks = new Map<string, Task>();
  /** Code reads the clock several times in a row with one config. */
  let last: { readonly config: object; readonly task: Task | undefined } | undefined;
  const told: Task[] = [];
  /** Bytes in the log, by base. */
  const stored = new Map<string | undefined, number>([[EARLIER, options.keptBytes]]);
  /** Uncompressed bytes of calls that have not ended. */
  let held = 0;
  let ended = 0;
  const deliver = openDelivery();
  const reads = openKeptReads(earlier.reads);

  const currentTask = (): Task | undefined => taskOf(configOf?.());

  /** A module that loads is no part of the task: the next attempt's worker may have it already. */
  const drawingTask = (): Task | undefined => (loadingModule() === undefined ? currentTask() : undefined);

  function taskOf(config: unknown): Task | undefined {
    if (typeof config !== 'object' || config === null) return undefined;
    if (last?.config === config) return last.task;
    const place = placeOf(config);
    let task = place && tasks.get(place.ns);
    if (place !== undefined && task === undefined)
      tasks.set(place.ns, (task = openTask(place, config as TaskConfig)));
    last = { config, task };
    return task;
  }

  function openTask({ ns, base, node }: TaskPlace, config: TaskConfig): Task {
    note(config);
    const names = (): string => namesOf(config);
    const kept = earlier.taskAt(ns, names);
    const clocks = openTaskClocks(kept?.readings);
    return { ns: kept?.ns ?? ns, names, base, node, kept, calls: [], clocks, served: [], again: [] };
  }

  /** The task and those around it, whose readings its requests may contain. */
  function around(task: Task): readonly Task[] {
    const outer: Task[] = [];
    for (let at = task.ns.indexOf('|'); at >= 0; at = task.ns.indexOf('|', at + 1)) {
      const found = tasks.get(task.ns.slice(0, at));
      if (found !== undefined) outer.push(found);
    }
    return [...outer, task];
  }

  function add(task: Task, part: KeptPart, isAnswer: boolean): void {
    const packed = packKept(part);
    const sum = [...stored.values()].reduce((all, bytes) => all + bytes, packed.length);
    if (sum > maxBytes) return;
    stored.set(task.base, (stored.get(task.base) ?? 0) + packed.length);
    options.write(packed, task.base, isAnswer);
  }

  function tell(task: Task, list: number[], asked: number): void {
    if (task.served.length + task.again.length === 0 && told.push(task) > MAX_TOLD_TASKS) told.pop();
    list.push(asked);
  }

  /** Begins to keep a call, and says that it was asked. */
  function begin(task: Task, request: OutgoingRequest): Exchange {
    const sent: Uint8Array[] = [];
    const chunks: Uint8Array[] = [];
    let size = 0;
    let isOver = false;
    let head: Omit<KeptAnswer, 'chunks'> | undefined;
    let own: string | undefined;
    const digest = (): string => own ?? digestOfCall(request, Buffer.concat(sent));
    const asked = task.calls.push({ digest });
    const onAnswer = keeper.onRequest?.(request, false);
    const readings = () => around(task).map(({ ns, clocks }) => ({ ns, clocks, mark: clocks.mark() }));
    let before = readings();
    const place = { attempt, charges, ns: task.ns, names: task.names(), asked };
    if (task.kept?.isUnanswered(asked) === true) tell(task, task.again, asked);
    add(task, place, false);

    function hold(list: Uint8Array[], chunk: Uint8Array): void {
      if (isOver) return;
      size += chunk.length;
      held += chunk.length;
      if (held > maxBytes) drop();
      else list.push(chunk.slice());
    }

    function drop(): void {
      if (isOver) return;
      isOver = true;
      own = digest();
      held -= size;
      size = 0;
      chunks.length = 0;
    }

    function end(failure?: RecordedFailure): void {
      if (isOver) return;
      const body = Buffer.concat(chunks);
      drop();
      if (head !== undefined && failure === undefined) onAnswer?.(head.headers, body);
      const isToken = isTokenRequest(Buffer.concat(sent)) || (head && isTokenAnswer(head.headers, body));
      sent.length = 0;
      if (isToken) return;
      const part: KeptCall = {
        ...{ ...place, seed, digest: digest(), ended: ++ended, body },
        ordinal: task.calls.slice(0, asked).filter((call) => call.digest() === own).length,
        ...(head && { answer: { ...head, chunks: lengths } }),
        ...(failure && { failure }),
        reads: reads.take(),
        readings: before.flatMap(({ ns, clocks, mark }) =>
          clocks.take(mark).map(([clock, values]) => [ns, clock, values] as const),
        ),
      };
      add(task, part, true);
    }

    const lengths: number[] = [];
    return {
      sent(chunk) {
        hold(sent, chunk);
        // A body may be made after the request was opened.
        before = readings();
      },
      answered(status, statusText, headers) {
        head = { status, ...(statusText !== undefined && { statusText }), headers };
      },
      received(chunk) {
        lengths.push(chunk.length);
        hold(chunks, chunk);
      },
      ended: end,
      aborted: drop,
      ...(options.keys && { idempotencyKey: `${callKeyOf(keeper.runId ?? '', task.ns)}-${asked}` }),
    };
  }

  function reply(request: OutgoingRequest, body: Uint8Array, to: Receiver): Reply {
    const task = currentTask();
    const digest = digestOfCall(request, body);
    const ordinal = (task?.calls.filter((call) => call.digest() === digest).length ?? 0) + 1;
    const call = task?.kept?.take(digest, ordinal);
    if (task === undefined || call === undefined) {
      const exchange = keeper.open(request);
      exchange?.sent(body);
      return { kind: 'live', exchange };
    }
    tell(task, task.served, task.calls.push({ digest: () => digest }));
    // What a run that is one task was answered before its last checkpoint counts there.
    if (call.answer !== undefined)
      keeper.onRequest?.(request, true)(call.answer.headers, call.body, task.ns === '');
    const exchange = recorder?.open(request);
    exchange?.sent(body);
    return { kind: 'answer', drop: deliver(call, exchange, to) };
  }

  const keeper: Keeper = {
    mode: 'record',
    get configOf() {
      return configOf;
    },
    set configOf(find) {
      configOf = find;
      if (recorder !== undefined) recorder.configOf = find;
    },
    runId: undefined,
    onRequest: undefined,
    callKey(config) {
      const task = taskOf(config);
      return task && callKeyOf(keeper.runId ?? '', task.ns);
    },
    queues: 0,
    taskOf: recorder?.taskOf ?? namesOf,
    begin: recorder?.begin,
    currentTask: () => recorder?.currentTask() ?? namesOf(configOf?.()),
    random(api, bytes) {
      if (recorder !== undefined) return recorder.random(api, bytes);
      const task = drawingTask();
      return task && randomFor(task.ns === '' ? WHOLE_RUN : task.ns, attempt, api, bytes);
    },
    reading(kind, real) {
      const shown = kind === 'server' ? real : (drawingTask()?.clocks.show(kind, real) ?? real);
      return recorder === undefined ? shown : recorder.reading(kind, shown);
    },
    open(request) {
      const task = isTracing(request.url) ? undefined : currentTask();
      const recorded = recorder?.open(request);
      if (task === undefined) return recorded;
      const kept = begin(task, request);
      return recorded === undefined ? kept : both(recorded, kept);
    },
    kept: () => (currentTask()?.kept?.hasAnswers() === true ? { reply } : undefined),
    timer: recorder?.timer,
    unrecorded: recorder?.unrecorded,
    saved(checkpointId) {
      for (const [ns, { base }] of tasks) if (base !== undefined && base !== checkpointId) tasks.delete(ns);
      for (const base of stored.keys()) if (base !== undefined && base !== checkpointId) stored.delete(base);
    },
    read: (requests, ask) =>
      reads.batch(requests, (request) => askedBy(request) ?? namesOf(configOf?.()), ask),
    repeated: () => told.map(({ node, served, again }) => ({ node, served, again })),
  };
  let configOf: Keeper['configOf'];
  return keeper;
}

/** The base of what earlier attempts kept: the first root checkpoint of this one erases it. */
const EARLIER = 'earlier';

/** Random values of a run that is one task. */
const WHOLE_RUN = 'run';
