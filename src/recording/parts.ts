/**
 * The parts of a run's recording, in the order in which the run produced them. Each part is stored as one compressed
 * blob, so a recording can be read and erased part by part.
 */
import { zstdCompressSync } from 'node:zlib';
import type { Json, JsonObject } from '../kernel/json.ts';

/**
 * A place in the run that re-execution finds again: step, node path and positions among parallel tasks. Empty outside of
 * tasks. It contains no task id: those of a later attempt differ.
 */
export type TaskKey = string;

/** Clocks of graph code, and `server`, that of this program's own code. */
export type ClockKind = 'date' | 'performance' | 'origin' | 'hrtime' | 'uptime' | 'server';

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string;
  /** The body is decoded. */
  readonly body?: Uint8Array;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly statusText?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Number of the arrival of status and headers. */
  readonly arrival: number;
  /**
   * How the body arrived: milliseconds since the request was sent, and bytes, of each chunk; then the difference of its
   * arrival's number to the one before, if that is not 1.
   */
  readonly chunks: readonly (readonly [at: number, bytes: number, step?: number])[];
}

export interface RecordedFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** What re-executed code gets in place of the run's secrets: stand-ins (stand-ins.ts). */
interface MaskedSettings {
  readonly user?: JsonObject;
  readonly inherited: Readonly<Record<string, string>>;
  /** Members of `configurable` and `context` that hold keys. */
  readonly configurable?: JsonObject;
  readonly context?: JsonObject;
  readonly env: Readonly<Record<string, string>>;
  /** Each text that stands for a secret. */
  readonly standIns: readonly string[];
}

/** Start of an attempt. */
export interface StartPart {
  readonly kind: 'start';
  readonly attempt: number;
  /** Random values are drawn from this seed, the task's key and the name of the function that draws. */
  readonly seed: string;
  /** Likewise for the worker's modules that load within runs. */
  readonly moduleSeed: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Environment variables by name; the value is null unless it was allowed to be kept (environment.ts). */
  readonly env: Readonly<Record<string, string | null>>;
  /** `dev` observed the run: the library's callbacks draw random values and read clocks. */
  readonly observed?: true;
  /** Calls were noted through the library's callbacks; absent in recordings of earlier versions. */
  readonly noted?: true;
  /** The server's base URL, which SDK clients without an address call. */
  readonly server?: string;
  readonly secrets: MaskedSettings;
  readonly versions: Readonly<Record<string, string>>;
}

/** A checkpoint of an earlier run that the attempt read, with the writes that it had then. */
export interface LoadedPart {
  readonly kind: 'loaded';
  readonly attempt: number;
  readonly ns: string;
  /** The id that was asked for; absent for the newest of the namespace. */
  readonly asked?: string;
  /** Null when there was none. */
  readonly checkpointId: string | null;
  readonly writes: readonly Json[];
}

/**
 * What reached the run from outside is numbered in one sequence for each attempt: answers, their chunks, ends and failures,
 * answers of the item store, and timers.
 *
 * An exchange is an HTTP request with its answer, or with the error that it ended with.
 */
export interface ExchangePart {
  readonly kind: 'exchange';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly request: RecordedRequest;
  /** SHA-256 of the request (request.ts). */
  readonly digest: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Place of the request in the order in which the attempt asked. */
  readonly asked: number;
  readonly answer?: RecordedAnswer;
  readonly failure?: RecordedFailure;
  /** Number of the arrival of end or failure; absent when the code broke off, or the attempt ended before. */
  readonly ended?: number;
}

/** Requests of one task in a batch to the item store, with their answers. */
export interface StorePart {
  readonly kind: 'store';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly requests: readonly Json[];
  readonly asked: number;
  readonly answers?: readonly Json[];
  readonly failure?: RecordedFailure;
  /** Number of the arrival of answers or failure; absent when the attempt ended before. */
  readonly ended?: number;
}

/** Timers that fired, and operations of this program that ended, since the last such part. */
export interface TimersPart {
  readonly kind: 'timers';
  readonly attempt: number;
  /** Those of a kind are counted by task, in the order in which they were started. Null: not ended with the attempt. */
  readonly fired: readonly (readonly [task: TaskKey, timer: string, index: number, arrival: number | null])[];
}

/** Graph code used something that is not recorded, such as a socket of its own, a child process or a file. */
export interface UnrecordedPart {
  readonly kind: 'unrecorded';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly what: string;
}

/** Readings of clocks since the last such part. */
export interface ClockPart {
  readonly kind: 'clock';
  readonly attempt: number;
  /** Runs alternate the difference to the reading before and how often it is repeated; the first is added to 0. */
  readonly lists: readonly (readonly [task: TaskKey, clock: ClockKind, runs: readonly number[]])[];
}

/** What the worker asked in other runs, before the attempt or beside it: hashes of methods and addresses (asked.ts). */
interface AskedPart {
  readonly kind: 'asked';
  readonly attempt: number;
  readonly hashes: readonly string[];
}

/** The recording reached its size limit: later exchanges are missing. */
export interface CutPart {
  readonly kind: 'cut';
  readonly attempt: number;
  readonly maxBytes: number;
}

export type RecordingPart =
  | StartPart
  | LoadedPart
  | ExchangePart
  | StorePart
  | TimersPart
  | ClockPart
  | UnrecordedPart
  | AskedPart
  | CutPart;

/** Compressed bytes of a part. */
export function packPart(part: RecordingPart): Buffer {
  const bodies = part.kind === 'exchange' ? [part.request.body, part.answer?.body] : [];
  return pack({ format: FORMAT, part: withoutBodies(part), sizes: bodies.map(sizeOf) }, bodies);
}

/**
 * Compressed bytes: the length of the head, the head as JSON, then the bodies as they were. Bodies are not text of the head,
 * because escaping them would cost more than recording them.
 */
export function pack(head: object, bodies: readonly (Uint8Array | undefined)[]): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([length, text, ...bodies.flatMap((body) => body ?? [])]);
  return plain.length > MAX_RAW_BYTES ? zstdCompressSync(plain) : rawFrame(plain);
}

/** Compression saves nothing below it, and costs a context that the garbage collector has to free. */
const MAX_RAW_BYTES = 255;

/** A frame of zstd with the bytes as they are: magic number, one byte for the size, the last block. */
function rawFrame(bytes: Buffer): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.length, 0, 0, 0]);
  head.writeUIntLE((bytes.length << 3) | 1, 6, 3);
  return Buffer.concat([head, bytes]);
}

const sizeOf = (body: Uint8Array | undefined): number | null => body?.length ?? null;

function withoutBodies(part: RecordingPart): object {
  if (part.kind !== 'exchange') return part;
  const { body: _, ...request } = part.request;
  if (part.answer === undefined) return { ...part, request };
  const { body: __, ...answer } = part.answer;
  return { ...part, request, answer };
}

/** Number of the format of parts. Runs with recordings of another one are not executed again. */
export const FORMAT = 7;
