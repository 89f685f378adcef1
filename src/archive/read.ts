/** Reads the records of an exported file, one at a time, in bounded memory. */
import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import { findFaultIn } from '../kernel/json-scan.ts';
import { startTurn } from '../kernel/turn.ts';
import { openContainer, type Container, type ContainerOptions } from './container.ts';
import { isPayloadKind, kindOf, payloadSchema, type PayloadHead, type PayloadKind } from './kinds.ts';
import { HEAD_LIMITS, MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_TEXT_UTF16_UNITS } from './limits.ts';
import { body, end, eventHead, FORMAT, header, upcastHead, type Header } from './records.ts';
import { ExportRefused } from './refusal.ts';
import { createWindow } from './window.ts';

export type ReadRecord =
  | { readonly kind: 'header'; readonly head: Header }
  | { readonly kind: 'event'; readonly head: z.infer<typeof eventHead>; readonly text: string }
  | {
      readonly kind: 'payload';
      readonly of: PayloadKind;
      readonly thread: string;
      readonly head: PayloadHead;
      /** A text, or bytes where the kind's encoding says so. */
      readonly content: string | Uint8Array;
    };

export interface ExportedFile extends Pick<Container, 'digest' | 'fileBytes' | 'close'> {
  /** All records in order. Throws `ExportRefused` at the first that cannot be read. `onBytes`: of records, unpacked. */
  records(onBytes?: (bytes: number) => void): AsyncGenerator<ReadRecord>;
  /** Makes an error of a record's content. */
  refusal(reason: string): ExportRefused;
}

const LINE_FEED = 0x0a;
/** Characters of completed texts for each byte of the unpacked file that is allowed. */
const MAX_GROWTH = 4;
/** A message quotes the file, whose names may be long. */
const MAX_REASON_UTF16_UNITS = 500;

/** Throws `ExportRefused` for a file that is foreign, damaged, or of a later format. */
export async function openExport(path: string, options: ContainerOptions = {}): Promise<ExportedFile> {
  const { name = path, maxBytes = Infinity } = options;
  const container = await openContainer(path, options);
  const { format, digest, fileBytes } = container;
  if (format > FORMAT) {
    await container.close();
    throw new ExportRefused(
      `${name} has format ${format}; this version reads formats up to ${FORMAT}: import it with a newer version`,
    );
  }
  const scratch = openScratch();
  const refusal = (reason: string): ExportRefused =>
    new ExportRefused(`${name} is not valid: ${reason.slice(0, MAX_REASON_UTF16_UNITS)}`);
  return {
    ...{ digest, fileBytes, refusal },
    close: container.close,
    records: (onBytes) =>
      toRecords(
        readRaw(container.content(), scratch, refusal, onBytes),
        format,
        refusal,
        MAX_GROWTH * maxBytes,
      ),
  };
}

/** One buffer for all long bodies of a file: each of its own would wait for the garbage collector. */
function openScratch(): (length: number) => Buffer {
  let held = Buffer.alloc(0);
  return (length) => {
    if (held.length < length) held = Buffer.allocUnsafeSlow(Math.max(length, 2 * held.length));
    return held.subarray(0, length);
  };
}

interface RawRecord {
  readonly head: JsonObject;
  /** Valid until the next record is read. */
  readonly content: Buffer | undefined;
}

async function* readRaw(
  chunks: AsyncIterable<Buffer>,
  scratch: (length: number) => Buffer,
  refusal: (reason: string) => ExportRefused,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<RawRecord> {
  let held: Buffer = Buffer.alloc(0);
  let at = 0;
  let bytes = 0;
  const source = chunks[Symbol.asyncIterator]();
  async function pull(): Promise<Buffer | undefined> {
    const { done, value } = await source.next();
    if (done) return undefined;
    onBytes?.((bytes += value.length));
    return value;
  }
  /** Undefined at the end. */
  async function readLine(): Promise<string | undefined> {
    for (;;) {
      const found = held.indexOf(LINE_FEED, at);
      const length = (found < 0 ? held.length : found) - at;
      if (length > MAX_HEAD_BYTES)
        throw refusal(`a record begins with no line of JSON of at most ${MAX_HEAD_BYTES} bytes`);
      if (found >= 0) {
        const line = held.toString('utf8', at, found);
        at = found + 1;
        return line;
      }
      const more = await pull();
      if (more === undefined) {
        if (at < held.length) throw refusal('it ends within a record');
        return undefined;
      }
      held = at === held.length ? more : Buffer.concat([held.subarray(at), more]);
      at = 0;
    }
  }
  async function readBody(length: number): Promise<Buffer> {
    if (held.length - at >= length) return held.subarray(at, (at += length));
    const content = scratch(length);
    for (let filled = 0; ;) {
      const copied = held.copy(content, filled, at, at + length - filled);
      filled += copied;
      at += copied;
      if (filled === length) return content;
      const more = await pull();
      if (more === undefined) throw refusal('it ends within a record');
      held = more;
      at = 0;
    }
  }
  const turn = startTurn();
  try {
    for (let line = await readLine(); line !== undefined; line = await readLine()) {
      await turn();
      const fault = findFaultIn(line, HEAD_LIMITS);
      if (fault !== undefined) throw refusal(`the head of a record is ${fault.reason}`);
      const head: unknown = JSON.parse(line);
      if (!isObject(head)) throw refusal('the head of a record is no object');
      const length = head['bytes'];
      if (length === undefined) {
        yield { head, content: undefined };
        continue;
      }
      if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0)
        throw refusal(`a record of ${JSON.stringify(length)} bytes`);
      if (length > MAX_BODY_BYTES)
        throw refusal(`a record of ${length} bytes, where at most ${MAX_BODY_BYTES} were expected`);
      const content = await readBody(length + 1);
      if (content[length] !== LINE_FEED) throw refusal('no line feed follows the body of a record');
      yield { head, content: content.subarray(0, -1) };
    }
  } finally {
    await source.return?.();
  }
}

async function* toRecords(
  raw: AsyncIterable<RawRecord>,
  format: number,
  refusal: (reason: string) => ExportRefused,
  maxTextUnits: number,
): AsyncGenerator<ReadRecord> {
  const texts = createWindow<number, string>();
  const counts: Record<string, number> = {};
  let ordinal = -1;
  let isOver = false;
  let textUnits = 0;

  function checked<T>(schema: z.ZodType<T>, head: JsonObject): T {
    const { success, data, error } = schema.safeParse(head);
    if (success) return data;
    const [issue] = error.issues;
    const path = [...(issue?.path ?? [])].join('.');
    const kind = head['kind'] as string;
    throw refusal(`record ${ordinal} (${kind}), ${path || 'head'}: ${issue?.message}`);
  }

  function textOf(head: JsonObject, content: Buffer | undefined): string {
    const { splice } = checked(body, head);
    if (content === undefined || !isUtf8(content)) throw refusal(`record ${ordinal} is no UTF-8`);
    const data = content.toString('utf8');
    const text = splice === undefined ? data : spliced(data, splice);
    textUnits += text.length;
    if (textUnits > maxTextUnits) throw refusal(`its texts have more than ${maxTextUnits} characters`);
    texts.add(ordinal, text, text.length);
    return text;
  }

  /** A copy: the chunk that it lies in would stay as long. */
  function bytesOf(content: Buffer | undefined): Uint8Array {
    if (content === undefined) throw refusal(`record ${ordinal} has no body`);
    return new Uint8Array(content);
  }

  function spliced(data: string, { of, head, start, kept }: NonNullable<z.infer<typeof body>['splice']>) {
    const base = texts.get(of);
    if (base === undefined || start + kept > base.length || head > data.length)
      throw refusal(`record ${ordinal} leans on a text that is not there`);
    if (data.length + kept > MAX_TEXT_UTF16_UNITS)
      throw refusal(`record ${ordinal} is a text of more than ${MAX_TEXT_UTF16_UNITS} characters`);
    const text = data.slice(0, head) + base.slice(start, start + kept) + data.slice(head);
    // Reading a character makes it a text of its own; it would hold all texts that it was made of otherwise.
    text.charCodeAt(0);
    return text;
  }

  for await (const { head: given, content } of raw) {
    ordinal += 1;
    if (isOver) throw refusal('there are records after the last one');
    const head = upcastHead(format, given);
    const { kind } = head;
    if (typeof kind !== 'string') throw refusal(`record ${ordinal} has no kind`);
    if ((ordinal === 0) !== (kind === 'header')) throw refusal('it does not begin with one header');
    if (kind === 'end') {
      const stated = checked(end, head).counts;
      for (const of of new Set([...Object.keys(counts), ...Object.keys(stated)]))
        if (counts[of] !== stated[of])
          throw refusal(
            `it has ${counts[of] ?? 0} records of the kind ${of}, its end says ${stated[of] ?? 0}`,
          );
      isOver = true;
      continue;
    }
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (kind === 'header') yield { kind, head: checked(header, head) };
    else if (kind === 'event') yield { kind, head: checked(eventHead, head), text: textOf(head, content) };
    else if (isPayloadKind(kind))
      yield {
        ...{ kind: 'payload', of: kind, head: checked(payloadSchema(kind), head) },
        thread: head['thread'] as string,
        content: kindOf(kind).encoding === 'json' ? textOf(head, content) : bytesOf(content),
      };
    else throw refusal(`record ${ordinal} has the kind ${kind}, which this version does not know`);
  }
  if (!isOver) throw refusal('its last record is missing');
}
