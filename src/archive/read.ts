/** Reads the records of an exported file, one at a time, in bounded memory. */
import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import { openContainer, type Container, type ContainerOptions } from './container.ts';
import { isPayloadKind, kindOf, payloadSchema, type PayloadHead, type PayloadKind } from './kinds.ts';
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

const MAX_HEAD_BYTES = 32 * 1024 * 1024;
/** A longer text is no text of V8. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Throws `ExportRefused` for a file that is foreign, damaged, or of a later format. */
export async function openExport(path: string, options: ContainerOptions = {}): Promise<ExportedFile> {
  const { name = path } = options;
  const container = await openContainer(path, options);
  const { format, digest, fileBytes } = container;
  if (format > FORMAT) {
    await container.close();
    throw new ExportRefused(
      `${name} has format ${format}; this version reads formats up to ${FORMAT}: import it with a newer version`,
    );
  }
  const refusal = (reason: string): ExportRefused => new ExportRefused(`${name} is not valid: ${reason}`);
  return {
    ...{ digest, fileBytes, refusal },
    close: container.close,
    records: (onBytes) => toRecords(readRaw(container.content(), refusal, onBytes), format, refusal),
  };
}

interface RawRecord {
  readonly head: JsonObject;
  readonly content: Buffer | undefined;
}

async function* readRaw(
  chunks: AsyncIterable<Buffer>,
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
      if (found >= 0) {
        const line = held.toString('utf8', at, found);
        at = found + 1;
        return line;
      }
      if (held.length - at > MAX_HEAD_BYTES) throw refusal('a record begins with no line of JSON');
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
    const parts: Buffer[] = [];
    let missing = length;
    for (;;) {
      const part = held.subarray(at, Math.min(held.length, at + missing));
      at += part.length;
      missing -= part.length;
      if (missing === 0) return parts.length === 0 ? part : Buffer.concat([...parts, part]);
      parts.push(part);
      const more = await pull();
      if (more === undefined) throw refusal('it ends within a record');
      held = more;
      at = 0;
    }
  }
  try {
    for (let line = await readLine(); line !== undefined; line = await readLine()) {
      const head = parse(line);
      if (!isObject(head)) throw refusal('a record begins with no line of JSON');
      const length = head['bytes'];
      if (length === undefined) {
        yield { head, content: undefined };
        continue;
      }
      if (!Number.isSafeInteger(length) || Number(length) < 0 || Number(length) > MAX_BODY_BYTES)
        throw refusal(`a record of ${String(length)} bytes`);
      // A line feed follows the body.
      const content = await readBody(Number(length) + 1);
      yield { head, content: content.subarray(0, -1) };
    }
  } finally {
    await source.return?.();
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* toRecords(
  raw: AsyncIterable<RawRecord>,
  format: number,
  refusal: (reason: string) => ExportRefused,
): AsyncGenerator<ReadRecord> {
  const texts = createWindow<number, string>();
  const counts: Record<string, number> = {};
  let ordinal = -1;
  let isOver = false;

  function checked<T>(schema: z.ZodType<T>, head: JsonObject): T {
    const { success, data, error } = schema.safeParse(head);
    if (success) return data;
    const [issue] = error.issues;
    const path = [...(issue?.path ?? [])].join('.');
    throw refusal(`record ${ordinal} (${String(head['kind'])}), ${path || 'head'}: ${issue?.message}`);
  }

  function textOf(head: JsonObject, content: Buffer | undefined): string {
    const { splice } = checked(body, head);
    if (content === undefined || !isUtf8(content)) throw refusal(`record ${ordinal} is no UTF-8`);
    const data = content.toString('utf8');
    const text = splice === undefined ? data : spliced(data, splice);
    texts.add(ordinal, text, text.length);
    return text;
  }

  /** A copy: the chunk that it lies in would stay as long. */
  function bytesOf(content: Buffer | undefined): Uint8Array {
    if (content === undefined) throw refusal(`record ${ordinal} has no body`);
    return Uint8Array.from(content);
  }

  function spliced(data: string, { of, head, start, kept }: NonNullable<z.infer<typeof body>['splice']>) {
    const base = texts.get(of);
    if (base === undefined || start + kept > base.length || head > data.length)
      throw refusal(`record ${ordinal} leans on a text that is not there`);
    const text = data.slice(0, head) + base.slice(start, start + kept) + data.slice(head);
    // Reading a character makes it a text of its own; it would hold all texts that it was made of otherwise.
    text.charCodeAt(0);
    return text;
  }

  for await (const { head: given, content } of raw) {
    ordinal += 1;
    if (isOver) throw refusal('there are records after the last one');
    const head = upcastHead(format, given);
    const kind = String(head['kind']);
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
        ...{ kind: 'payload', of: kind, thread: String(head['thread']) },
        head: checked(payloadSchema(kind), head),
        content: kindOf(kind).encoding === 'json' ? textOf(head, content) : bytesOf(content),
      };
    else throw refusal(`record ${ordinal} has the kind ${kind}, which this version does not know`);
  }
  if (!isOver) throw refusal('its last record is missing');
}
