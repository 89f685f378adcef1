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

export function openRecorder(options: RecorderOptions): Recorder {
  const { attempt, masks, now, maxBytes } = options;
  let bytes = 0;
  /** Uncompressed bytes of exchanges that have not ended. */
  let pending = 0;
  let isCut = false;
  const open = new Set<() => void>();
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
      add({ kind: 'unrecorded', attempt, task: currentTask(), what: masks.text(what) });
    },
    end() {
      for (const unfinished of open) unfinished();
      addReadings();
    },
  };
  return recorder;
}

const UNANSWERED = { name: 'Error', message: 'no answer came before the attempt ended' };
const BROKEN_OFF = { name: 'Error', message: 'the answer was not read to its end' };

/** Bytes in memory per byte of the limit: answers compress well. */
const MAX_HELD_FACTOR = 8;

const TRACING_VARIABLES = ['LANGSMITH_ENDPOINT', 'LANGCHAIN_ENDPOINT', 'LANGCHAIN_BASE_URL'];

/** True for requests to the tracing service of the graph library. */
function isTracing(url: string): boolean {
  const { hostname, origin } = new URL(url);
  return (
    /(^|\.)smith\.langchain\.com$/.test(hostname) ||
    TRACING_VARIABLES.some((name) => {
      const value = process.env[name];
      return value !== undefined && URL.canParse(value) && new URL(value).origin === origin;
    })
  );
}
