/**
 * The parts of a run's recording, in the order in which the run produced them. Each part is stored as one compressed
 * blob, so a recording can be read and erased part by part.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Json, JsonObject } from '../kernel/json.ts';

/**
 * A place in the run that re-execution finds again: step, node path and position among parallel tasks. Empty outside of
 * tasks. It contains no task id: those differ in every execution.
 */
export type TaskKey = string;

/** Bytes as text where they are UTF-8. */
export interface RecordedBytes {
  readonly encoding: 'utf8' | 'base64';
  readonly data: string;
}

export interface RecordedRequest {
  readonly method: string;
  /** Values of query parameters that look like keys or tokens are masked. */
  readonly url: string;
  readonly contentType?: string;
  readonly body?: RecordedBytes;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly statusText?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `at`: milliseconds since the request was sent. */
  readonly chunks: readonly (RecordedBytes & { readonly at: number })[];
}

export interface RecordedFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** Start of an attempt. */
export interface StartPart {
  readonly kind: 'start';
  readonly attempt: number;
  /** Random values of each task are drawn from this seed and the task's key. */
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Environment variables by name; the value is null unless it was allowed to be kept. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Secret fields of the user and of inherited headers, by name only. */
  readonly secrets: { readonly user?: JsonObject; readonly inherited: readonly string[] };
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

/** An HTTP request with its answer, or with the error that it ended with. */
export interface ExchangePart {
  readonly kind: 'exchange';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly request: RecordedRequest;
  /** SHA-256 of the request without its ids and times (request.ts). */
  readonly digest: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly answer?: RecordedAnswer;
  readonly failure?: RecordedFailure;
}

/** A batch of requests to the item store with its answers. */
export interface StorePart {
  readonly kind: 'store';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly requests: Json;
  readonly answers: Json;
}

/** Graph code used something that is not recorded, such as a socket of its own or a child process. */
export interface UnrecordedPart {
  readonly kind: 'unrecorded';
  readonly attempt: number;
  readonly task: TaskKey;
  readonly what: string;
}

/** The recording reached its size limit: later exchanges are missing. */
export interface CutPart {
  readonly kind: 'cut';
  readonly attempt: number;
  readonly maxBytes: number;
}

export type RecordingPart = StartPart | LoadedPart | ExchangePart | StorePart | UnrecordedPart | CutPart;

export const packPart = (part: RecordingPart): Buffer => zstdCompressSync(JSON.stringify(part));
/** Throws when the bytes are no part of a recording. */
export const unpackPart = (bytes: Uint8Array): RecordingPart =>
  JSON.parse(zstdDecompressSync(bytes).toString('utf8')) as RecordingPart;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toRecordedBytes(bytes: Uint8Array): RecordedBytes {
  try {
    return { encoding: 'utf8', data: utf8.decode(bytes) };
  } catch {
    // Not UTF-8, so the bytes themselves are kept.
    return { encoding: 'base64', data: Buffer.from(bytes).toString('base64') };
  }
}

export const fromRecordedBytes = ({ encoding, data }: RecordedBytes): Buffer => Buffer.from(data, encoding);
