/** Reads the records of an exported file, one at a time, in bounded memory. */
import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import { PRODUCT } from '../kernel/product.ts';
import { openContainer, type Container, type ContainerOptions } from './container.ts';
import { isPayloadKind, kindOf, payloadSchema, type PayloadHead, type PayloadKind } from './kinds.ts';
import { RECORD_LIMITS, type Scope } from './limits.ts';
import { isLogKind, logKindOf, logSchema, type LogKindName } from './log-kinds.ts';
import { openScratch, readRaw, type RawRecord } from './read-raw.ts';
import { body, end, eventHead, FORMAT, header, logHeader, upcastHead, type Header } from './records.ts';
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

/** A record of a whole log. */
export type ReadLogRecord =
  | { readonly kind: 'header'; readonly head: z.infer<typeof logHeader> }
  | Exclude<ReadRecord, { kind: 'header' }>
  | {
      readonly kind: 'content';
      readonly of: LogKindName;
      readonly head: { readonly [member: string]: unknown };
      /** A text, or bytes where the kind's encoding says so; empty for a kind without a body. */
      readonly content: string | Uint8Array;
    };

export interface ExportedFile<R = ReadRecord> extends Pick<Container, 'digest' | 'fileBytes' | 'close'> {
  /** All records in order. Throws `ExportRefused` at the first that cannot be read. `onBytes`: of records, unpacked. */
  records(onBytes?: (bytes: number) => void): AsyncGenerator<R>;
  /** Makes an error of a record's content. */
  refusal(reason: string): ExportRefused;
}
export type ExportedLog = ExportedFile<ReadLogRecord>;

/** Characters of completed texts for each byte of the unpacked file that is allowed. */
const MAX_GROWTH = 4;
/** A message quotes the file, whose names may be long. */
const MAX_REASON_UTF16_UNITS = 500;

/** Opens an exported thread. Throws `ExportRefused` for a file that is foreign, damaged, or of a later format. */
export const openExport = (path: string, options?: ContainerOptions): Promise<ExportedFile> =>
  open('thread', path, options) as Promise<ExportedFile>;

/** Opens an exported log. Throws `ExportRefused` for a file that is foreign, damaged, or of a later format. */
export const openLogExport = (path: string): Promise<ExportedLog> =>
  open('log', path) as Promise<ExportedLog>;

type AnyRecord = ReadRecord | ReadLogRecord;

async function open(
  scope: Scope,
  path: string,
  options: ContainerOptions = {},
): Promise<ExportedFile<AnyRecord>> {
  const { name = path, maxBytes = Infinity } = options;
  const container = await openContainer(path, options);
  const { format, digest, fileBytes } = container;
  const problem =
    format > FORMAT
      ? `has format ${format}; this version reads formats up to ${FORMAT}: import it with a newer version`
      : container.scope !== scope
        ? `holds a ${container.scope}, expected a ${scope}: "${PRODUCT} import" takes either`
        : undefined;
  if (problem !== undefined) {
    await container.close();
    throw new ExportRefused(`${name} ${problem}`);
  }
  const scratch = openScratch();
  const refusal = (reason: string): ExportRefused =>
    new ExportRefused(`${name} is not valid: ${reason.slice(0, MAX_REASON_UTF16_UNITS)}`);
  return {
    ...{ digest, fileBytes, refusal },
    close: container.close,
    records(onBytes) {
      const raw = readRaw(container.content(), { scratch, refusal, scope, onBytes });
      return toRecords(raw, { scope, format, refusal, maxTextUnits: MAX_GROWTH * maxBytes });
    },
  };
}

interface RecordOptions {
  readonly scope: Scope;
  readonly format: number;
  readonly refusal: (reason: string) => ExportRefused;
  readonly maxTextUnits: number;
}

async function* toRecords(
  raw: AsyncIterable<RawRecord>,
  { scope, format, refusal, maxTextUnits }: RecordOptions,
): AsyncGenerator<AnyRecord> {
  const { maxBodyBytes } = RECORD_LIMITS[scope];
  const texts = createWindow<number, string>();
  const counts: Record<string, number> = {};
  let ordinal = -1;
  let isOver = false;
  let textUnits = 0;

  function contentOf(encoding: 'json' | 'bytes' | undefined, head: JsonObject, content: Buffer | undefined) {
    if (encoding === undefined) return '';
    return encoding === 'json' ? textOf(head, content) : bytesOf(content);
  }

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
    if (data.length + kept > maxBodyBytes)
      throw refusal(`record ${ordinal} is a text of more than ${maxBodyBytes} characters`);
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
    if (kind === 'header')
      yield scope === 'thread'
        ? { kind, head: checked(header, head) }
        : { kind, head: checked(logHeader, head) };
    else if (kind === 'event') yield { kind, head: checked(eventHead, head), text: textOf(head, content) };
    else if (isPayloadKind(kind))
      yield {
        ...{ kind: 'payload', of: kind, head: checked(payloadSchema(kind), head) },
        thread: head['thread'] as string,
        content: contentOf(kindOf(kind).encoding, head, content),
      };
    else if (scope === 'log' && isLogKind(kind))
      yield {
        ...{ kind: 'content', of: kind, head: checked(logSchema(kind), head) },
        content: contentOf(logKindOf(kind).encoding, head, content),
      };
    else throw refusal(`record ${ordinal} has the kind ${kind}, which this version does not know`);
  }
  if (!isOver) throw refusal('its last record is missing');
}
