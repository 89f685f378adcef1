/**
 * Records one attempt at a run. Requests outside of tasks, such as those of tracing, are recorded without a task; those
 * to tracing services are left out.
 */
import type { Json } from '../kernel/json.ts';
import { packPart, type ExchangePart, type RecordedAnswer, type RecordingPart } from './parts.ts';
import { openRandoms } from './random.ts';
import { answerHead, encodingOf } from './answers.ts';
import { maskedBody } from './bodies.ts';
import type { Masks } from './masks.ts';
import { digestOf, toRecordedRequest } from './request.ts';
import { openReadingLog, MAX_READINGS } from './readings.ts';
import { openTaskKeys, type RecordingSession } from './session.ts';
import { askedByOthers, hashOfAddress } from './asked.ts';
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
  stored(requests: Json, answers: Json): void;
  /** Writes the exchanges that have not ended, and the last readings of clocks. */
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
  const open = new Set<() => void>();
  const own = new Set<string>();
  const named = new Set<string>();
  const keyOf = openTaskKeys();
  const randomFor = openRandoms(options.seed);
  const readings = openReadingLog((task) =>
    add({ kind: 'unrecorded', attempt, task, what: `the clock after ${MAX_READINGS} readings` }),
  );
  const currentTask = (): string => keyOf(recorder.configOf?.());

  function cut(): void {
    if (isCut) return;
    isCut = true;
    options.write(packPart({ kind: 'cut', attempt, maxBytes }));
  }

  function add(part: RecordingPart): void {
    if (isCut) return;
    const packed = packPart(part);
    if (bytes + packed.length > maxBytes) return cut();
    bytes += packed.length;
    options.write(packed);
  }

  /** What was read before an exchange is committed no later than the exchange. */
  function addReadings(): void {
    const lists = readings.take();
    if (lists !== undefined) add({ kind: 'clock', attempt, lists });
  }

  const recorder: Recorder = {
    mode: 'record',
    configOf: undefined,
    add,
    random: (api, size) => randomFor(currentTask(), attempt, api, size),
    reading(kind, real) {
      readings.add(currentTask(), kind, real);
      return real;
    },
    open(request) {
      if (isCut || isTracing(request.url)) return undefined;
      own.add(hashOfAddress(request.method, request.url));
      const task = currentTask();
      const at = now();
      const sent: Uint8Array[] = [];
      const received: Uint8Array[] = [];
      const chunks: [at: number, bytes: number][] = [];
      let head: Omit<RecordedAnswer, 'chunks' | 'body'> | undefined;
      let held = 0;

      function hold(size: number): void {
        held += size;
        pending += size;
        if (pending > MAX_HELD_FACTOR * maxBytes) cut();
      }

      function end(failure?: ExchangePart['failure'], isOpen = false): void {
        if (!open.delete(unfinished)) return;
        pending -= held;
        addReadings();
        const recorded = toRecordedRequest({ ...request, body: Buffer.concat(sent) }, masks);
        add({
          ...{ kind: 'exchange', attempt, task, request: recorded, digest: digestOf(recorded), at },
          ...(head !== undefined && {
            answer: { ...head, ...maskedBody(received, chunks, encodingOf(head), masks) },
          }),
          ...(failure !== undefined && { failure: { ...failure, message: masks.text(failure.message) } }),
          ...(isOpen && { isOpen }),
        });
      }
      const unfinished = (): void => end(head === undefined ? UNANSWERED : BROKEN_OFF, true);
      open.add(unfinished);

      return {
        sent(chunk) {
          sent.push(chunk.slice());
          hold(chunk.length);
        },
        answered(status, statusText, headers) {
          head = answerHead(status, statusText, headers, masks);
        },
        received(chunk) {
          received.push(chunk.slice());
          chunks.push([now() - at, chunk.length]);
          hold(chunk.length);
        },
        ended: (failure) => end(failure),
      };
    },
    stored(requests, answers) {
      addReadings();
      const masked = (batch: Json): Json => {
        const text = JSON.stringify(batch);
        const shown = masks.text(text);
        return shown === text ? batch : (JSON.parse(shown) as Json);
      };
      add({
        ...{ kind: 'store', attempt, task: currentTask() },
        ...{ requests: masked(requests), answers: masked(answers) },
      });
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
      addReadings();
      const hashes = askedByOthers(own);
      if (hashes.length > 0) add({ kind: 'asked', attempt, hashes });
    },
  };
  return recorder;
}

const UNANSWERED = { name: 'Error', message: 'no answer came before the attempt ended' };
const BROKEN_OFF = { name: 'Error', message: 'the answer was not read to its end' };

/** Bytes in memory per byte of the limit: answers compress well. */
const MAX_HELD_FACTOR = 8;
