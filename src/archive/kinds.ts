/**
 * The kinds of payloads of a thread: how each is named in a file, checked, and written into a log. A kind that joins the
 * log is carried as soon as it has an entry here and its records in `ThreadSource`.
 */
import { z } from 'zod';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { SourcePayload } from '../store/port/thread-source.ts';
import { body, name, object, time } from './records.ts';

type Of<K extends SourcePayload['kind']> = Extract<SourcePayload, { kind: K }>;

/** Head of a payload's record: the members of its kind, besides kind, thread and body. */
export interface PayloadHead {
  readonly run: string;
  readonly [member: string]: unknown;
}

/** Operations that every kind of record has. */
export interface Kind {
  readonly schema: z.ZodType<PayloadHead>;
  /** Records of the kind belong to a run of the thread and are found by the run's id alone. */
  readonly isOfRun: boolean;
  readonly encoding: 'json' | 'bytes';
  readonly toHead: (payload: SourcePayload) => PayloadHead;
  /** `content`: a text, or bytes where the encoding says so. */
  readonly toWrite: (head: PayloadHead, content: string | Uint8Array, threadId: string) => PayloadWrite;
}

const kind = <
  K extends SourcePayload['kind'],
  H extends { readonly run: string },
  C extends string | Uint8Array = string,
>(
  schema: z.ZodType<H>,
  rest: {
    readonly isOfRun: boolean;
    readonly toHead: (payload: Of<K>) => H;
    readonly toWrite: (head: H, content: C, threadId: string) => PayloadWrite;
    readonly encoding?: 'bytes';
  },
): Kind => ({ encoding: 'json', schema, ...rest }) as unknown as Kind;

const ORDINAL = z.int().min(0);

const KINDS: Readonly<Record<SourcePayload['kind'], Kind>> = {
  value: kind(z.object({ run: name, ns: name, channel: name, version: name }), {
    isOfRun: false,
    toHead: ({ runId, ns, channel, version }: Of<'value'>) => ({ run: runId, ns, channel, version }),
    toWrite: ({ run, ns, channel, version }, data, threadId) => ({
      kind: 'channel-values',
      ...{ threadId, runId: run, ns, values: [{ channel, version, data }] },
    }),
  }),
  checkpoint: kind(
    z.object({
      run: name,
      ns: name,
      id: name,
      parent: name.nullable(),
      at: time,
      lastFrame: z.int().min(-1).nullable(),
      metadata: object,
      versions: z.record(name, name),
      valueChannels: z.array(name),
    }),
    {
      isOfRun: false,
      toHead: (payload: Of<'checkpoint'>) => ({
        run: payload.runId,
        ns: payload.ns,
        id: payload.checkpointId,
        parent: payload.parentId,
        at: payload.at,
        lastFrame: payload.lastFrame,
        metadata: payload.metadata,
        versions: payload.channelVersions,
        valueChannels: [...payload.valueChannels],
      }),
      toWrite: (head, text, threadId) => ({
        kind: 'checkpoint',
        ...{ threadId, runId: head.run, at: head.at },
        ...(head.lastFrame !== null && { lastFrame: head.lastFrame }),
        checkpoint: {
          ...{ ns: head.ns, checkpointId: head.id, parentId: head.parent, body: text },
          ...{ metadata: head.metadata, channelVersions: head.versions },
          ...{ valueChannels: head.valueChannels, blobs: [] },
        },
      }),
    },
  ),
  write: kind(
    z.object({
      ...{ run: name, ns: name, checkpoint: name, task: name },
      ...{ path: name, index: z.int(), channel: name },
    }),
    {
      isOfRun: false,
      toHead: (payload: Of<'write'>) => ({
        ...{ run: payload.runId, ns: payload.ns, checkpoint: payload.checkpointId, task: payload.taskId },
        ...{ path: payload.taskPath ?? '', index: payload.idx, channel: payload.channel },
      }),
      toWrite: ({ run, ns, checkpoint, task, path, index, channel }, data, threadId) => ({
        kind: 'checkpoint-writes',
        ...{ threadId, runId: run, ns, checkpointId: checkpoint },
        writes: [{ taskId: task, taskPath: path, idx: index, channel, data }],
      }),
    },
  ),
  frame: kind(
    // The event becomes a line of a stream of its own, so it is one line.
    z.object({
      ...{ run: name, id: ORDINAL, event: name.regex(/^[^\r\n]*$/), at: time },
      /** The text shows the state of its graph: the next one of the graph repeats most of it. */
      state: z.literal(true).optional(),
    }),
    {
      isOfRun: true,
      toHead: ({ runId, id, event, at, showsState }: Of<'frame'>) => ({
        ...{ run: runId, id, event, at },
        ...(showsState && { state: true as const }),
      }),
      toWrite: ({ run, id, event, at, state }, data, threadId) => ({
        kind: 'frames',
        ...{ runId: run, threadId, first: id, times: [at] },
        frames: [{ event, data, ...(state && { state: 'whole' }) }],
      }),
    },
  ),
  untracked: kind(z.object({ run: name }), {
    isOfRun: true,
    toHead: ({ runId }: Of<'untracked'>) => ({ run: runId }),
    toWrite: ({ run }, data, threadId) => ({ kind: 'untracked-values', runId: run, threadId, data }),
  }),
  calls: kind(z.object({ run: name }), {
    isOfRun: true,
    toHead: ({ runId }: Of<'calls'>) => ({ run: runId }),
    toWrite: ({ run }, data, threadId) => ({ kind: 'calls', runId: run, threadId, data }),
  }),
  recording: kind(z.object({ run: name }), {
    isOfRun: true,
    encoding: 'bytes',
    toHead: ({ runId }: Of<'recording'>) => ({ run: runId }),
    toWrite: ({ run }, data: Uint8Array, threadId) => ({ kind: 'recording', runId: run, threadId, data }),
  }),
};

export type PayloadKind = SourcePayload['kind'];

const OF_ALL = z.object({ kind: z.string(), thread: name });
const SCHEMAS = new Map<string, z.ZodType<PayloadHead>>(
  Object.entries(KINDS).map(([name, { schema, encoding }]) => {
    const content = body.extend({ encoding: z.literal(encoding) });
    return [name, schema.and(OF_ALL).and(content)];
  }),
);

export const isPayloadKind = (kind: string): kind is PayloadKind => Object.hasOwn(KINDS, kind);
export const kindOf = (kind: PayloadKind): Kind => KINDS[kind];
/** Schema of the whole head of a record. */
export const payloadSchema = (kind: PayloadKind): z.ZodType<PayloadHead> => SCHEMAS.get(kind)!;
