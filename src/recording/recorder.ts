/**
 * Records one attempt at a run. Requests outside of tasks, such as those of tracing, are recorded without a task; those
 * to tracing services are left out.
 */
import type { Json } from '../kernel/json.ts';
import {
  packPart,
  type ExchangePart,
  type RecordedAnswer,
  type RecordingPart,
  type StorePart,
} from './parts.ts';
import { openRandoms } from './random.ts';
import { answerHead, encodingOf } from './answers.ts';
import { maskedBody } from './bodies.ts';
import type { Masks } from './masks.ts';
import { digestOf, toRecordedRequest } from './request.ts';
import { loadingModule, moduleRandoms, moduleReadings, noteModuleReading } from './module-loading.ts';
import { openReadingLog, MAX_READINGS } from './readings.ts';
import { askedBy, currentQueue, openTaskKeys, type Batch, type RecordingSession } from './session.ts';
import { MAX_TIMERS, openTimerLog, timerOf } from './timer-log.ts';
import { askedByOthers, hashOfAddress } from './asked.ts';
import { callKeyIn } from './call-keys.ts';
import { isTracing } from './tracing.ts';

export interface RecorderOptions {
  readonly attempt: number;
  readonly seed: string;
  readonly maxBytes: number;
  readonly masks: Masks;
  readonly now: () => number;
  readonly write: (part: Uint8Array) => void;
}

export interface Recorder extends RecordingSession {
  add(part: RecordingPart): void;
  /** Records a batch of the item store. */
  store(requests: readonly object[]): Batch;
  /** Writes the requests that have not ended, the last timers and readings of clocks. */
  end(): void;
}

/** One is enough for a verdict: more are for people who read it. */
const MAX_NAMED = 100;

export function openRecorder(options: RecorderOptions): Recorder {
  const { attempt, masks, now, maxBytes } = options;
  let bytes = 0;
  /** Uncompressed bytes of exchanges that have not ended. */
  let pending = 0;
  let isCut = false;
  let isOver = false;
  const open = new Set<() => void>();
  const own = new Set<string>();
  const named = new Set<string>();
  const { keyOf } = openTaskKeys();
  const randomFor = openRandoms(options.seed);
  const readings = openReadingLog((task) =>
    add({ kind: 'unrecorded', attempt, task, what: `the clock after ${MAX_READINGS} readings` }),
  );
  const currentTask = (): string => keyOf(recorder.configOf?.());
  /** Readings of modules that the recording has. */
  let modules = 0;
  let count = 0;
  /** Numbers requests and arrivals in the order in which they happen. */
  const nextNumber = (): number => ++count;
  const timers = openTimerLog(nextNumber, (task) =>
    add({ kind: 'unrecorded', attempt, task, what: `a timer after ${MAX_TIMERS} timers` }),
  );

  function cut(): void {
    if (isCut) return;
    isCut = true;
    options.write(packPart({ kind: 'cut', attempt, maxBytes }));
  }

  function add(part: RecordingPart): void {
    if (isCut || isOver) return;
    const packed = packPart(part);
    if (bytes + packed.length > maxBytes) return cut();
    bytes += packed.length;
    options.write(packed);
  }

  /** Readings and timers from before an exchange are committed no later than the exchange. */
  function addReadings(): void {
    for (; modules < moduleReadings.length; modules++) readings.add(...moduleReadings[modules]!);
    const lists = readings.take();
    if (lists !== undefined) add({ kind: 'clock', attempt, lists });
    const fired = timers.take();
    if (fired !== undefined) add({ kind: 'timers', attempt, fired });
  }

  const masked = (batch: readonly Json[]): readonly Json[] => {
    const text = JSON.stringify(batch);
    const shown = masks.text(text);
    return shown === text ? batch : (JSON.parse(shown) as Json[]);
  };

  const recorder: Recorder = {
    mode: 'record',
    configOf: undefined,
    onRequest: undefined,
    queues: 0,
    runId: undefined,
    callKey: (config) => callKeyIn(recorder, config),
    ...{ add, currentTask, taskOf: keyOf },
    random(api, size) {
      const module = loadingModule();
      return module === undefined
        ? randomFor(currentTask(), attempt, api, size)
        : moduleRandoms(module, attempt, api, size);
    },
    reading(kind, real) {
      const module = loadingModule();
      if (module !== undefined) return noteModuleReading(module, kind, real);
      readings.add(currentTask(), kind, real);
      return real;
    },
    begin(operation, isReal) {
      const arrived = timers.begin(currentTask(), operation, isReal);
      return (deliver) => {
        arrived();
        deliver();
      };
    },
    open(request) {
      if (isCut || isTracing(request.url)) return undefined;
      own.add(hashOfAddress(request.method, request.url));
      const task = currentTask();
      const at = now();
      const asked = nextNumber();
      const onAnswer = recorder.onRequest?.(request, false);
      const sent: Uint8Array[] = [];
      const received: Uint8Array[] = [];
      const chunks: [at: number, bytes: number, step?: number][] = [];
      let last = 0;
      let isInPacket = false;
      /** Parts that arrive in one packet have one number: the code sees them together. */
      const arrive = (): number => {
        if (isInPacket) return last;
        isInPacket = true;
        queueMicrotask(() => (isInPacket = false));
        return (last = nextNumber());
      };
      let head: Omit<RecordedAnswer, 'chunks' | 'body'> | undefined;
      let held = 0;

      function hold(size: number): void {
        held += size;
        pending += size;
        if (pending > MAX_HELD_FACTOR * maxBytes) cut();
      }

      function end(failure?: ExchangePart['failure'], ended?: number): void {
        if (!open.delete(unfinished)) return;
        pending -= held;
        if (head !== undefined && failure === undefined && ended !== undefined)
          onAnswer?.(head.headers, Buffer.concat(received));
        addReadings();
        const recorded = toRecordedRequest({ ...request, body: Buffer.concat(sent) }, masks);
        add({
          ...{ kind: 'exchange', attempt, task, request: recorded, digest: digestOf(recorded), at, asked },
          ...(head !== undefined && {
            answer: { ...head, ...maskedBody(received, chunks, encodingOf(head), masks) },
          }),
          ...(failure !== undefined && { failure: { ...failure, message: masks.text(failure.message) } }),
          ...(ended !== undefined && { ended }),
        });
      }
      const unfinished = (): void => end();
      open.add(unfinished);

      return {
        sent(chunk) {
          sent.push(chunk.slice());
          hold(chunk.length);
        },
        answered(status, statusText, headers) {
          head = { ...answerHead(status, statusText, headers, masks), arrival: arrive() };
        },
        received(chunk) {
          received.push(chunk.slice());
          const before = last;
          const step = arrive() - before;
          chunks.push(step === 1 ? [now() - at, chunk.length] : [now() - at, chunk.length, step]);
          hold(chunk.length);
        },
        ended: (failure) => end(failure, arrive()),
        aborted: () => end(),
      };
    },
    timer(name, delayMs) {
      const queue = currentQueue();
      return queue === undefined ? timers.begin(currentTask(), timerOf(name, delayMs)) : timers.poll(queue);
    },
    store(requests) {
      currentQueue()?.onEffect();
      const asked = nextNumber();
      const byTask = Map.groupBy(requests.keys(), (at) => askedBy(requests[at]!) ?? currentTask());
      const end = ({ answers, ...rest }: Pick<StorePart, 'answers' | 'failure' | 'ended'>): void => {
        if (!open.delete(unfinished)) return;
        addReadings();
        for (const [task, places] of byTask)
          add({
            ...{ kind: 'store', attempt, task, asked, ...rest },
            requests: masked(places.map((at) => requests[at] as Json)),
            ...(answers && { answers: masked(places.map((at) => answers[at] ?? null)) }),
          });
      };
      const unfinished = (): void => end({});
      open.add(unfinished);
      return {
        answered: (answers) => end({ answers, ended: nextNumber() }),
        failed: (failure) =>
          end({ failure: { ...failure, message: masks.text(failure.message) }, ended: nextNumber() }),
      };
    },
    unrecorded(what) {
      const task = currentTask();
      const part = { kind: 'unrecorded', attempt, task, what: masks.text(what) } as const;
      const key = `${task}\n${part.what}`;
      if (named.size >= MAX_NAMED || named.has(key)) return;
      named.add(key);
      add(part);
    },
    end() {
      for (const unfinished of open) unfinished();
      timers.end();
      addReadings();
      const hashes = askedByOthers(own);
      if (hashes.length > 0) add({ kind: 'asked', attempt, hashes });
      isOver = true;
    },
  };
  return recorder;
}

/** Bytes in memory per byte of the limit: answers compress well. */
const MAX_HELD_FACTOR = 8;
