/**
 * Reads the parts of a recording. A recording may come in a file that anybody made: sizes are bounded before anything is
 * unpacked or parsed, and shapes are checked.
 */
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { findFaultIn, type ScanLimits } from '../kernel/json-scan.ts';
import { FORMAT, type RecordingPart } from './parts.ts';

/** Of one part, unpacked. */
const MAX_PART_BYTES = 128 * 1024 ** 2;
/** Of all parts of a run, unpacked. */
const MAX_RECORDING_BYTES = 512 * 1024 ** 2;
const HEAD_LIMITS: ScanLimits = { maxDepth: 800, maxWeight: 5_000_000 };
/** Readings of clocks in a part; a repeated one takes no bytes. */
const MAX_PART_READINGS = 2_000_000;

/** The last millisecond that a `Date` can have. */
const MAX_TIME_MS = 8.64e15;

const text = z.string();
const failure = z.looseObject({ name: text, message: text, code: text.optional() });
const exchange = z.looseObject({
  task: text,
  request: z.looseObject({ method: text, url: text, contentType: text.optional() }),
  digest: text,
  at: z.number().min(0).max(MAX_TIME_MS),
  asked: z.int(),
  ended: z.int().optional(),
  answer: z
    .looseObject({
      status: z.int(),
      statusText: text.optional(),
      headers: z.array(z.tuple([text, text])),
      arrival: z.int(),
      chunks: z.array(z.tuple([z.number(), z.int().min(0), z.int().optional()])),
    })
    .optional(),
  failure: failure.optional(),
});

const PARTS: Readonly<Record<RecordingPart['kind'], z.ZodType>> = {
  start: z.looseObject({
    ...{
      seed: text,
      moduleSeed: text,
      at: z.number(),
      server: text.optional(),
      versions: z.record(text, text),
    },
    env: z.record(text, text.nullable()),
    secrets: z.looseObject({
      ...{ user: z.looseObject({}).optional(), inherited: z.record(text, text) },
      ...{ configurable: z.looseObject({}).optional(), context: z.looseObject({}).optional() },
      ...{ env: z.record(text, text), standIns: z.array(text) },
    }),
  }),
  loaded: z.looseObject({
    ...{ ns: text, asked: text.optional(), checkpointId: text.nullable(), writes: z.array(z.unknown()) },
  }),
  exchange,
  store: z.looseObject({
    ...{
      task: text,
      requests: z.array(z.unknown()),
      answers: z.array(z.unknown()).optional(),
      asked: z.int(),
    },
    ...{ failure: failure.optional(), ended: z.int().optional() },
  }),
  timers: z.looseObject({ fired: z.array(z.tuple([text, text, z.int(), z.int().nullable()])) }),
  unrecorded: z.looseObject({ task: text, what: text }),
  clock: z.looseObject({ lists: z.array(z.tuple([text, text, z.array(z.number())])) }),
  asked: z.looseObject({ hashes: z.array(text) }),
  cut: z.looseObject({ maxBytes: z.number() }),
};

/** `sizes`: of the bodies of request and answer. */
const HEAD = z.object({
  part: z.looseObject({ kind: text, attempt: z.int() }),
  sizes: z.array(z.int().min(0).nullable()).max(2),
});

/** Throws when the bytes are no part of a recording, or one of another format. */
export const unpackPart = (bytes: Uint8Array): RecordingPart => read(unpack(bytes));

/** All parts of a run. Throws as `unpackPart`, and when they are too large together. */
export const unpackParts = (blobs: readonly Uint8Array[]): RecordingPart[] => blobs.map(openUnpacker());

/** Unpacks the parts of a run one by one, within the same bounds. */
export function openUnpacker(): (bytes: Uint8Array) => RecordingPart {
  let size = 0;
  return (bytes) => {
    const plain = unpack(bytes);
    size += plain.length;
    if (size > MAX_RECORDING_BYTES)
      throw new Error(`the recording is larger than ${MAX_RECORDING_BYTES} bytes when it is unpacked`);
    return read(plain);
  };
}

function unpack(bytes: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_PART_BYTES });
  } catch (error) {
    throw new Error(
      `a part is damaged, or larger than ${MAX_PART_BYTES} bytes when it is unpacked (${(error as Error).message})`,
      { cause: error },
    );
  }
}

function read(plain: Buffer): RecordingPart {
  const end = plain.length < 4 ? Infinity : 4 + plain.readUInt32BE(0);
  if (end > plain.length) throw new Error('a part ends within its head');
  const json = plain.toString('utf8', 4, end);
  const fault = findFaultIn(json, HEAD_LIMITS);
  if (fault !== undefined) throw new Error(`the head of a part is ${fault.reason}`);
  const given = JSON.parse(json) as { readonly format?: unknown } | null;
  if (given?.format !== FORMAT)
    throw new Error(`the recording has format ${JSON.stringify(given?.format)}, expected ${FORMAT}`);
  const { part, sizes } = checked(HEAD, given);
  if (!Object.hasOwn(PARTS, part.kind)) throw new Error(`a part has the kind ${part.kind.slice(0, 100)}`);
  const found = checked(PARTS[part.kind as RecordingPart['kind']], part) as RecordingPart;
  if (found.kind === 'clock') assertFewReadings(found.lists);
  return found.kind === 'exchange' ? withBodies(found, plain.subarray(end), sizes) : found;
}

function checked<T>(schema: z.ZodType<T>, given: unknown): T {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(`${issue?.path.join('.')} of a part: ${issue?.message}`);
}

type Part<K extends RecordingPart['kind']> = Extract<RecordingPart, { kind: K }>;

function assertFewReadings(lists: Part<'clock'>['lists']): void {
  let left = MAX_PART_READINGS;
  for (const [, , runs] of lists) for (let at = 1; at < runs.length; at += 2) left -= Math.max(1, runs[at]!);
  if (left < 0) throw new Error(`a part has more than ${MAX_PART_READINGS} readings of clocks`);
}

function withBodies(
  exchange: Part<'exchange'>,
  bodies: Buffer,
  sizes: readonly (number | null)[],
): Part<'exchange'> {
  let at = 0;
  const [sent, received] = sizes.map((size) =>
    size === null ? undefined : bodies.subarray(at, (at += size)),
  );
  if (at > bodies.length) throw new Error('a part ends within its bodies');
  return {
    ...exchange,
    request: { ...exchange.request, ...(sent && { body: sent }) },
    ...(exchange.answer && { answer: { ...exchange.answer, body: received ?? Buffer.alloc(0) } }),
  };
}
