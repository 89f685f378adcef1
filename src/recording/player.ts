/**
 * Answers the requests of a re-executed run from its recording, in the recorded order (arrivals.ts). An answer belongs to
 * the task that asked: of the task's unused answers the first with the request's digest is taken, in the order in which
 * they were asked for.
 */
import type { Json } from '../kernel/json.ts';
import type {
  CutPart,
  ExchangePart,
  LoadedPart,
  RecordedRequest,
  RecordingPart,
  StartPart,
  TaskKey,
  UnrecordedPart,
} from './parts.ts';
import { numberedFrom, openArrivals } from './arrivals.ts';
import { openRandoms } from './random.ts';
import { loadingModule } from './module-loading.ts';
import { openReadings } from './readings.ts';
import { openAgreement, type Agreement } from './agreement.ts';
import { NO_MASKS, openMasks, type Masks } from './masks.ts';
import { agreeWithoutIds, digestOf, textOf, toRecordedRequest, withoutIds } from './request.ts';
import { deliverAnswer, numbersOf } from './replies.ts';
import { openRecordedStore, type UnusedWrite } from './recorded-store.ts';
import { askedBy, insideSession, openTaskKeys, type Reply, type ReplaySession } from './session.ts';
import { openRecordedTimers } from './recorded-timers.ts';
import { hashOfAddress } from './asked.ts';
import { callKeyIn } from './call-keys.ts';
import { isTracing } from './tracing.ts';

/** The run asked for something that its recording does not have. */
export interface RequestDifference {
  readonly task: TaskKey;
  /** Absent when the recording has no request left for the task. */
  readonly recorded?: RecordedRequest;
  readonly found: RecordedRequest;
}

export interface PlayerOptions {
  readonly parts: readonly RecordingPart[];
  /** False when ids and times of the recording are those of several attempts, or of a part of the run: they may differ. */
  readonly isWhole: boolean;
  /** `url`: a request whose body differs gets the recorded answer of its URL. */
  readonly match: 'exact' | 'url';
  /** Requests that the recording does not have go to the real network. */
  readonly live: boolean;
  /** Bodies that replace those of recorded answers, by the number of the exchange, from 1. */
  readonly answers: ReadonlyMap<number, string>;
  readonly realNow: () => number;
  /** The first difference ends the re-execution. */
  readonly onDifference: (difference: RequestDifference) => void;
  /** The item store was asked for something that the recording does not have. `recorded`: the next batch that it has. */
  readonly onStore: (task: TaskKey, recorded: Json | undefined, found: Json) => void;
  /** Graph code was refused what reaches outside of its run. */
  readonly onClosed: (what: string, task: TaskKey) => void;
  /** The run waits for something that never comes. */
  readonly onStalled: () => void;
}

export interface Player extends ReplaySession {
  readonly start: StartPart | undefined;
  /** Compares what the recording or the log has with what the run makes of stand-ins. */
  readonly agrees: Agreement;
  readonly live: boolean;
  /** Variables that keep their own values: these read as the stand-ins in requests. */
  recognise(pairs: ReadonlyMap<string, string>): void;
  /** Recorded exchanges in order, numbered from 1. */
  readonly exchanges: readonly ExchangePart[];
  readonly unrecorded: readonly UnrecordedPart[];
  readonly cut: CutPart | undefined;
  /** Loads graph code: its readings and draws are not those of the run. */
  load<T>(work: () => Promise<T>): Promise<T>;
  /** The recorded worker asked this in another run, and not in the run. */
  wasAskedBefore(request: RecordedRequest): boolean;
  /** The recorded read of a checkpoint; undefined when there was none. */
  loaded(ns: string, asked: string | undefined): LoadedPart | undefined;
  /** The recorded answers of a batch of the item store, in their turn. Rejects when there are none. */
  stored(requests: readonly object[]): Promise<Json[]>;
  /** What was recorded within tasks and not asked for: exchanges, and writes to the item store. */
  unused(): Promise<{ readonly exchanges: readonly ExchangePart[]; readonly writes: readonly UnusedWrite[] }>;
  /** Node of a task of the run, by the task's id; known of tasks that asked for anything. */
  nodeOf(taskId: string): string | undefined;
  /** Executes the run. */
  execute<T>(work: () => Promise<T>): Promise<T>;
  /** Ends the session: nothing is delivered any more. */
  close(): void;
}

/** Task key of code that runs while modules load. */
export const LOADING = 'loading';

export class NoAnswer extends Error {
  override readonly name = 'NoRecordedAnswer';
}

export function openPlayer(options: PlayerOptions): Player {
  const { parts } = options;
  const of = <K extends RecordingPart['kind']>(kind: K) =>
    parts.filter((part): part is Extract<RecordingPart, { kind: K }> => part.kind === kind);
  const [start] = of('start');
  const exchanges = of('exchange');
  const unused = latestByTask(exchanges);
  const batches = latestByTask(of('store'));
  const timers = latestByTask(
    of('timers').flatMap(({ attempt, fired }) =>
      fired.map(([task, timer, index, arrival]) => ({ attempt, task, timer, index, arrival })),
    ),
  );
  const { keyOf, nodeOf } = openTaskKeys();
  const currentTask = (): TaskKey => keyOf(player.configOf?.());
  const drawingTask = (): TaskKey => loadingModule() ?? (isLoading ? LOADING : currentTask());
  const agrees = openAgreement(start?.secrets.standIns ?? []);
  let masks: Masks = NO_MASKS;
  const randomFor = openRandoms(start?.seed ?? '');
  const randomForModule = openRandoms(of('start').at(-1)?.moduleSeed ?? '');
  const read = openReadings(of('clock'), start?.at ?? options.realNow(), options.realNow);
  let isLoading = false;
  const all = [...timers.values()].flat();
  const arrivals = openArrivals({
    numbers: [
      ...[...unused.values()].flat().flatMap(numbersOf),
      ...[...batches.values()].flat().flatMap(({ attempt, ended }) => numberedFrom(attempt, ended)),
      ...all.flatMap(({ attempt, arrival }) => numberedFrom(attempt, arrival)),
    ],
    patienceMs: start === undefined ? 0 : PATIENCE_MS,
    onStalled: options.onStalled,
  });
  const recordedTimers = openRecordedTimers(all, arrivals, options.isWhole);
  const recordedStore = openRecordedStore(batches, arrivals, options.isWhole, agrees);

  /** Requests outside of tasks to services that the recording knows from there, such as tracing, are no part of the run. */
  const isAside = ({ url }: RecordedRequest): boolean =>
    isTracing(url) ||
    exchanges.some(({ task, request }) => task === '' && new URL(request.url).origin === new URL(url).origin);

  function refuse(given: string, task: TaskKey): never {
    const what = masks.text(given);
    options.onClosed(what, task);
    throw new NoAnswer(`${what} is not recorded, and a re-execution reaches nothing outside`);
  }

  /** Whatever modules begin while they load is refused later, too. */
  const ofModules: Pick<ReplaySession, 'closed' | 'reply'> = {
    closed(what) {
      if (!options.live) refuse(what, LOADING);
    },
    reply(request, body) {
      if (options.live) return { kind: 'live' };
      if (isTracing(request.url)) throw new NoAnswer('no tracing');
      const { method, url } = toRecordedRequest({ ...request, body }, masks);
      return refuse(`a request (${method} ${url})`, LOADING);
    },
  };

  const player: Player = {
    mode: 'replay',
    configOf: undefined,
    onRequest: undefined,
    queues: 0,
    runId: undefined,
    callKey: (config) => callKeyIn(player, config),
    ...{ start, exchanges, unrecorded: of('unrecorded'), cut: of('cut')[0], agrees, live: options.live },
    currentTask,
    taskOf: keyOf,
    nodeOf,
    recognise(pairs) {
      masks = openMasks(pairs);
    },
    random(api, bytes) {
      arrivals.touch();
      const from = loadingModule() === undefined ? randomFor : randomForModule;
      return from(drawingTask(), start?.attempt ?? 1, api, bytes);
    },
    reading(kind, real) {
      arrivals.touch();
      return read(drawingTask(), kind, real);
    },
    // Another attempt may have ended between an operation and what is recorded of its task.
    begin: (operation, isReal) =>
      options.isWhole && start !== undefined
        ? recordedTimers.begin(currentTask(), operation, isReal)
        : (deliver) => deliver(),
    async load(work) {
      isLoading = true;
      try {
        return await insideSession({ ...player, ...ofModules }, work);
      } finally {
        isLoading = false;
      }
    },
    reply(request, body, receiver): Reply {
      arrivals.touch();
      const task = currentTask();
      const found = toRecordedRequest({ ...request, body }, masks);
      const left = unused.get(task) ?? [];
      const digest = digestOf(found);
      const exact = left.findIndex(
        (each) => each.digest === digest || (!options.isWhole && agreeWithoutIds(each.request, found)),
      );
      const masked =
        exact >= 0 ? exact : left.findIndex((each) => agrees(textOf(each.request), textOf(found)));
      const loose = options.match === 'url' ? findUrl(left, found) : findUnsent(left, found);
      const taken = masked >= 0 ? masked : loose;
      const exchange = left[taken];
      if (exchange === undefined) {
        if (options.live) return { kind: 'live' };
        if (task !== '') options.onDifference({ task, found, ...(left[0] && { recorded: left[0].request }) });
        else if (!isAside(found)) options.onClosed(`a request (${found.method} ${found.url})`, task);
        throw new NoAnswer(`the recording has no answer for ${found.method} ${found.url}`);
      }
      left.splice(taken, 1);
      const instead = options.answers.get(exchanges.indexOf(exchange) + 1);
      const onAnswer = player.onRequest?.(request, false);
      const onWhole = (): void => {
        if (exchange.answer) onAnswer?.(exchange.answer.headers, exchange.answer.body);
      };
      return { kind: 'answer', drop: deliverAnswer(exchange, instead, arrivals, receiver, onWhole) };
    },
    timer: (name, delayMs, timer) => recordedTimers.start(currentTask(), name, delayMs, timer),
    closed(what) {
      if (!options.live) refuse(what, currentTask());
    },
    wasAskedBefore(request) {
      const hash = ({ method, url }: RecordedRequest): string => hashOfAddress(method, url);
      const wanted = hash(request);
      return (
        of('asked').some(({ hashes }) => hashes.includes(wanted)) &&
        !exchanges.some((each) => hash(each.request) === wanted)
      );
    },
    loaded: (ns, asked) => of('loaded').find((each) => each.ns === ns && each.asked === asked),
    async stored(requests) {
      const tasks = requests.map((request) => askedBy(request) ?? currentTask());
      return recordedStore.answers(requests as unknown as Json[], tasks, (task, recorded, found) => {
        options.onStore(task, recorded, found);
        return new NoAnswer('the recording has no answer of the item store for this');
      });
    },
    async unused() {
      await arrivals.settle();
      return {
        exchanges: [...unused].flatMap(([task, left]) => (task === '' ? [] : left)),
        writes: recordedStore.unusedWrites(),
      };
    },
    execute(work) {
      arrivals.open();
      return insideSession(player, work);
    },
    close() {
      arrivals.close();
      recordedTimers.close();
    },
  };
  return player;
}

/** Time without activity after which the order of arrivals goes on without what it waits for. */
const PATIENCE_MS = 50;

/** A task that a later attempt repeated has the answers of that attempt only. What was asked for first comes first. */
function latestByTask<
  T extends { readonly task: TaskKey; readonly attempt: number; readonly asked?: number },
>(parts: readonly T[]): Map<TaskKey, T[]> {
  const byTask = new Map<TaskKey, T[]>();
  for (const part of parts) {
    const known = byTask.get(part.task);
    if (known === undefined || known[0]!.attempt < part.attempt) byTask.set(part.task, [part]);
    else known.push(part);
  }
  for (const known of byTask.values()) known.sort((a, b) => (a.asked ?? 0) - (b.asked ?? 0));
  return byTask;
}

const findUrl = (left: readonly ExchangePart[], { method, url }: RecordedRequest): number =>
  left.findIndex(({ request }) => request.method === method && withoutIds(request.url) === withoutIds(url));

/** A request that failed before its body was sent: what was sent of it is the beginning of the body. */
const findUnsent = (
  left: readonly ExchangePart[],
  { method, url, body = NO_BODY }: RecordedRequest,
): number =>
  left.findIndex(
    ({ request, answer }) =>
      answer === undefined &&
      request.method === method &&
      withoutIds(request.url) === withoutIds(url) &&
      Buffer.compare(request.body ?? NO_BODY, body.subarray(0, request.body?.length ?? 0)) === 0,
  );

const NO_BODY = new Uint8Array();
