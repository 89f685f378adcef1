/**
 * Calls of a run that the log keeps for its next attempt: what was asked where, and what was answered, whole. A part has one
 * call, or says that it was asked.
 */
import { createHash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { plainBody } from './bodies.ts';
import { pack, type ClockKind, type RecordedFailure, type TaskKey } from './parts.ts';
import type { Read } from './kept-reads.ts';
import { BOUNDARY } from './request.ts';
import type { OutgoingRequest } from './session.ts';

/** The place of a call: `ns` is the checkpoint namespace of its task, with task ids. */
interface Place {
  readonly attempt: number;
  /** Deaths that the run had been charged with when the attempt began. */
  readonly charges: number;
  readonly ns: string;
  /** The task without ids: a later attempt may have other ids where a checkpoint is missing. */
  readonly names: TaskKey;
  /** Number among the calls of the task, from 1, in the order in which they were asked. */
  readonly asked: number;
}

export interface KeptAnswer {
  readonly status: number;
  readonly statusText?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bytes of each chunk. */
  readonly chunks: readonly number[];
}

export interface KeptCall extends Place {
  /** Random values of the run's tasks are drawn from it. */
  readonly seed: string;
  readonly digest: string;
  /** Number among the task's calls with this digest, from 1. */
  readonly ordinal: number;
  /** Number among the calls of the attempt, in the order in which they ended. */
  readonly ended: number;
  readonly answer?: KeptAnswer;
  readonly failure?: RecordedFailure;
  /** What clocks have shown to the task, and to those around it, before it asked. Earlier parts have earlier readings. */
  readonly readings: readonly (readonly [ns: string, clock: ClockKind, values: readonly number[]])[];
  /** What tasks of the run have read from the item store since the last such part. */
  readonly reads: readonly Read[];
  /** The body of the answer. */
  readonly body: Uint8Array;
}

export type KeptPart = Place | KeptCall;

export const isCall = (part: KeptPart): part is KeptCall => 'digest' in part;

/** A part without an answer is plain JSON: compressing some bytes costs as much as observing the call. */
export function packKept(part: KeptPart): Buffer {
  if (!isCall(part)) return Buffer.from(JSON.stringify(part));
  const { body, ...head } = part;
  return pack(head, [body]);
}

const OPENING_BRACE = 0x7b;

/** Throws for a part that is not as it was kept: asking again could repeat what it did. */
export function unpackKept(bytes: Uint8Array): KeptPart {
  try {
    return unpack(bytes);
  } catch (error) {
    const told = 'what an earlier attempt at the run was answered cannot be read, and is not asked again';
    throw new Error(`${told}: ${(error as Error).message}`, { cause: error });
  }
}

function unpack(bytes: Uint8Array): KeptPart {
  if (bytes[0] === OPENING_BRACE) return JSON.parse(Buffer.from(bytes).toString()) as KeptPart;
  const plain = zstdDecompressSync(bytes);
  const end = 4 + plain.readUInt32BE(0);
  const head = JSON.parse(plain.toString('utf8', 4, end)) as KeptPart;
  return isCall(head) ? { ...head, body: plain.subarray(end) } : head;
}

/** Headers are no part of it, because signatures and keys change from attempt to attempt. */
export function digestOfCall(
  { method, url, contentType = '', contentEncoding }: OutgoingRequest,
  body: Uint8Array,
): string {
  const head = `${method} ${url}\n${contentType.replace(BOUNDARY, '<boundary>')}\n`;
  const text = Buffer.from(plainBody(body, contentEncoding))
    .toString('latin1')
    .replace(BOUNDARY, '<boundary>');
  return createHash('sha256').update(head).update(text, 'latin1').digest('base64url');
}
