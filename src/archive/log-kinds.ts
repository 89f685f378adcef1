/** Records that only files of whole logs have: content beside that of threads, and receipts. */
import { z } from 'zod';
import type { KeptReceipt } from '../store/port/log.ts';
import type { CarriedContent } from '../store/port/log-source.ts';
import { KINDS } from '../store/port/kinds.ts';
import { body, name, time } from './records.ts';

export type LogContent = CarriedContent | ({ readonly kind: 'receipt' } & KeptReceipt);

interface LogKind {
  readonly schema: z.ZodType<{ readonly [member: string]: unknown }>;
  /** Its head, and its body when it has one. */
  readonly toRecord: (content: never) => { readonly head: object; readonly content?: string | Uint8Array };
  readonly toContent: (head: never, content: string | Uint8Array) => LogContent;
  /** A4 R4 The body is sealed, or was left plain on demand. */
  readonly isSealed: boolean;
  /** Undefined without a body. */
  readonly encoding: 'json' | 'bytes' | undefined;
}

type Of<K extends LogContent['kind']> = Extract<LogContent, { kind: K }>;

const kind = <K extends LogContent['kind'], H extends { readonly [member: string]: unknown }>(
  schema: z.ZodType<H>,
  of: K,
  rest: {
    readonly encoding?: 'json';
    readonly toRecord: (content: Of<K>) => { readonly head: H; readonly content?: string | Uint8Array };
    readonly toContent: (head: H, content: never) => Of<K>;
  },
): LogKind => {
  const isSealed = of in KINDS && KINDS[of as keyof typeof KINDS].exported === 'sealed';
  return { schema, isSealed, encoding: isSealed ? 'bytes' : undefined, ...rest } as unknown as LogKind;
};

const LOG_KINDS: { readonly [K in LogContent['kind']]: LogKind } = {
  receipt: kind(z.object({ id: name, first: z.int(), last: z.int(), at: time }), 'receipt', {
    toRecord: ({ commandId: id, first, last, at }) => ({ head: { id, first, last, at } }),
    toContent: ({ id: commandId, first, last, at }) => ({ kind: 'receipt', commandId, first, last, at }),
  }),
  request: kind(z.object({ key: name, digest: name, run: name, thread: name, at: time }), 'request', {
    toRecord: ({ key, digest, runId: run, threadId: thread, at = 0 }) => ({
      head: { key, digest, run, thread, at },
    }),
    toContent: ({ key, digest, run: runId, thread: threadId, at }) => ({
      kind: 'request',
      ...{ key, digest, runId, threadId, at },
    }),
  }),
  secret: kind(z.object({ run: name, thread: name }), 'secret', {
    toRecord: ({ runId: run, threadId: thread, data }) => ({ head: { run, thread }, content: data }),
    toContent: ({ run: runId, thread: threadId }, data: Uint8Array) => ({
      kind: 'secret',
      ...{ runId, threadId, data: Buffer.from(data).toString('utf8') },
    }),
  }),
  'cron-secret': kind(z.object({ cron: name }), 'cron-secret', {
    toRecord: ({ cronId: cron, data }) => ({ head: { cron }, content: data }),
    toContent: ({ cron: cronId }, data: Uint8Array) => ({
      kind: 'cron-secret',
      ...{ cronId, data: Buffer.from(data).toString('utf8') },
    }),
  }),
  resume: kind(z.object({ run: name, thread: name, base: name.optional() }), 'resume', {
    toRecord: ({ runId: run, threadId: thread, base, data }) => ({
      head: { run, thread, base },
      content: data,
    }),
    toContent: ({ run: runId, thread: threadId, base }, data: Uint8Array) => ({
      kind: 'resume',
      ...{ runId, threadId, base, data },
    }),
  }),
  body: kind(z.object({ delivery: name, thread: name }), 'body', {
    encoding: 'json',
    toRecord: ({ deliveryId: delivery, threadId: thread, data }) => ({
      head: { delivery, thread },
      content: data,
    }),
    toContent: ({ delivery: deliveryId, thread: threadId }, data: string) => ({
      kind: 'body',
      ...{ deliveryId, threadId, data },
    }),
  }),
  'item-value': kind(z.object({ item: name }), 'item-value', {
    encoding: 'json',
    toRecord: ({ itemId: item, data }) => ({ head: { item }, content: data }),
    toContent: ({ item: itemId }, data: string) => ({ kind: 'item-value', itemId, data }),
  }),
  'item-vectors': kind(z.object({ item: name, vectors: z.array(z.string()) }), 'item-vectors', {
    toRecord: ({ itemId: item, vectors }) => ({ head: { item, vectors: [...vectors] } }),
    toContent: ({ item: itemId, vectors }) => ({ kind: 'item-vectors', itemId, vectors }),
  }),
};

const SCHEMAS = new Map(
  Object.entries(LOG_KINDS).map(([name, { schema, encoding }]) => [
    name,
    encoding === undefined
      ? schema
      : schema.and(body.extend({ encoding: z.literal(encoding), sealed: z.literal(true).optional() })),
  ]),
);

export type LogKindName = keyof typeof LOG_KINDS;
export const isLogKind = (kind: string): kind is LogKindName => Object.hasOwn(LOG_KINDS, kind);
export const logKindOf = (kind: LogKindName): LogKind => LOG_KINDS[kind];
export const logSchema = (kind: LogKindName): LogKind['schema'] => SCHEMAS.get(kind)!;
