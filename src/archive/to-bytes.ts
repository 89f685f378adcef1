/** Records as the bytes of an exported file, in bounded memory. */
import { breathe } from '../kernel/breathe.ts';
import type { SourceText } from '../store/port/thread-source.ts';
import { RECORD_LIMITS, type Scope } from './limits.ts';
import type { Body } from './records.ts';
import { createWindow } from './window.ts';

/** An import would refuse the file. */
export class TooLarge extends Error {
  constructor(scope: Scope, what: string, limit: number) {
    super(`the ${scope} cannot be exported: ${what}, where at most ${limit} can be imported`);
    this.name = 'TooLarge';
  }
}

const CHUNK_BYTES = 256 * 1024;

export interface OutRecord {
  readonly head: { readonly kind: string; readonly [member: string]: unknown };
  /** Absent in a record without a body. */
  readonly text?: SourceText;
  readonly bytes?: Uint8Array;
}

/**
 * The bytes of the records, and of the last one that counts them. Small pieces are joined: each chunk is a job of a thread
 * of its own in the compression.
 */
export async function* toBytes(
  scope: Scope,
  records: AsyncIterable<OutRecord>,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  let total = 0;
  for await (const piece of pieces(scope, records)) {
    parts.push(piece);
    size += piece.length;
    if (size < CHUNK_BYTES) continue;
    onBytes?.((total += size));
    yield Buffer.concat(parts);
    // A log in a file is read without a turn of the event loop: the server answers in between.
    await breathe();
    [parts, size] = [[], 0];
  }
  yield Buffer.concat(parts);
}

async function* pieces(scope: Scope, all: AsyncIterable<OutRecord>): AsyncGenerator<Buffer> {
  const toHead = headsOf(scope);
  const texts = createWindow<string | number, number>();
  const counts: Record<string, number> = {};
  let ordinal = -1;
  for await (const { head, text, bytes } of all) {
    ordinal += 1;
    counts[head.kind] = (counts[head.kind] ?? 0) + 1;
    if (bytes !== undefined) {
      yield toHead({ ...head, encoding: 'bytes', bytes: bytes.length } satisfies Body & object);
      yield Buffer.from(bytes);
      yield END_OF_BODY;
      continue;
    }
    if (text === undefined) {
      yield toHead(head);
      continue;
    }
    const { splice, key = ordinal } = text;
    const base = splice && texts.get(splice.base);
    const isSpliced = splice !== undefined && base !== undefined;
    const data = splice === undefined || isSpliced ? text.data : await text.whole();
    texts.add(key, ordinal, isSpliced ? data.length + splice.kept : data.length);
    const content = Buffer.from(data, 'utf8');
    const form: Body = {
      ...{ encoding: 'json', bytes: content.length },
      ...(isSpliced && {
        splice: { of: base, head: splice.head, start: splice.start, kept: splice.kept },
      }),
    };
    yield toHead({ ...head, ...form });
    yield content;
    yield END_OF_BODY;
  }
  yield toHead({ kind: 'end', counts });
}

const END_OF_BODY = Buffer.from('\n');

const headsOf = (scope: Scope): ((head: OutRecord['head'] & Partial<Body>) => Buffer) => {
  const { maxHeadBytes, maxBodyBytes } = RECORD_LIMITS[scope];
  return (head) => {
    const line = Buffer.from(`${JSON.stringify(head)}\n`, 'utf8');
    const { kind, bytes = 0 } = head;
    if (line.length > maxHeadBytes)
      throw new TooLarge(
        scope,
        `the head of a record of the kind ${kind} has ${line.length} bytes`,
        maxHeadBytes,
      );
    if (bytes > maxBodyBytes)
      throw new TooLarge(scope, `a record of the kind ${kind} has ${bytes} bytes`, maxBodyBytes);
    return line;
  };
};
