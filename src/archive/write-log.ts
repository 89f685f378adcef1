/** Writes a whole log as the bytes of an exported file, in bounded memory. */
import { VERSION } from '../kernel/product.ts';
import { upcasters } from '../store/port/events.ts';
import type { LogRecord, LogSource } from '../store/port/log-source.ts';
import { schemaVersionOf } from '../thread/upcast.ts';
import { toContainer } from './container.ts';
import { kindOf } from './kinds.ts';
import { logKindOf, type LogContent } from './log-kinds.ts';
import { FORMAT } from './records.ts';
import { toBytes, type OutRecord } from './to-bytes.ts';

export interface LogExportRequest {
  /** Milliseconds since 1970. */
  readonly exportedAt: number;
  /** Seals secrets and kept answers; undefined: they stand in the file as they are. */
  readonly seal: ((content: string | Uint8Array) => Uint8Array) | undefined;
  readonly onBytes?: (bytes: number) => void;
}

/** Yields the file. */
export const exportLog = (source: LogSource, request: LogExportRequest): AsyncGenerator<Buffer> =>
  toContainer(FORMAT, toBytes('log', records(source, request), request.onBytes), 'log');

async function* records(
  source: LogSource,
  { exportedAt, seal }: LogExportRequest,
): AsyncGenerator<OutRecord> {
  yield { head: { kind: 'header', program: VERSION, exportedAt } };
  for await (const record of source.records()) yield toRecord(record, seal);
}

function toRecord(record: LogRecord, seal: LogExportRequest['seal']): OutRecord {
  switch (record.kind) {
    case 'payload': {
      const { threadId, payload } = record;
      const head = { kind: payload.kind, thread: threadId, ...kindOf(payload.kind).toHead(payload) };
      return payload.kind === 'recording' ? { head, bytes: payload.bytes } : { head, text: payload.text };
    }
    case 'event': {
      const { type, data, meta } = record.event;
      const { stream, version, at, position, commandId: command } = meta;
      const schema = schemaVersionOf(type, upcasters);
      return {
        head: { kind: 'event', stream, version, type, schema, at, position, command },
        text: whole(JSON.stringify(data)),
      };
    }
    case 'content':
      return contentRecord(record.write, seal);
    case 'receipt':
      return contentRecord({ kind: 'receipt', ...record.receipt }, seal);
  }
}

function contentRecord(of: LogContent, seal: LogExportRequest['seal']): OutRecord {
  const { toRecord, isSealed, encoding } = logKindOf(of.kind);
  const { head: own, content } = toRecord(of as never);
  const head = { kind: of.kind, ...own };
  if (content === undefined) return { head };
  if (encoding === 'json') return { head, text: whole(content as string) };
  return isSealed && seal !== undefined
    ? { head: { ...head, sealed: true }, bytes: seal(content) }
    : { head, bytes: Buffer.from(content as Uint8Array) };
}

const whole = (data: string): { data: string; whole: () => Promise<string> } => ({
  data,
  whole: async () => data,
});
