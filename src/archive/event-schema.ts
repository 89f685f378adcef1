/**
 * The shapes of a thread's events. A log reads its events back without a check, so those of a file are checked before
 * they come in: a file may be made by anybody.
 */
import { z } from 'zod';
import type { Json } from '../kernel/json.ts';
import type { RunKwargs, ThreadEvent, ThreadEventMap } from '../thread/events.ts';
import type { Usage } from '../thread/usage.ts';
import { assistant, libraries, name, object, time, uuid } from './records.ts';

const json = z.custom<Json>((value) => value !== undefined, 'expected a value');
const text = z.string();
const count = z.int().min(0);
const names = z.array(text);
const ttl = z.strictObject({ strategy: z.enum(['delete', 'keep-latest']), minutes: z.number().positive() });
const key = z.strictObject({ ns: name, checkpointId: name });
const graph = z.strictObject({ graphId: name, assistantId: name });
const standing = z.strictObject({
  bound: graph.extend({ at: time }).nullable(),
  status: z.enum(['idle', 'interrupted', 'error']),
  interrupts: object,
  error: json,
});
const saved = z.strictObject({
  ...{ checkpointId: name, parentId: name.nullable(), ns: name },
  ...{ step: z.int(), source: name },
});
const stop = { reason: text, cancelReason: text.optional() };
const action = z.enum(['interrupt', 'rollback']);

const origin = {
  ...{ node: text.optional(), channel: text.optional(), remedy: text.optional() },
  ...{ step: z.int().optional(), stack: text.optional() },
};

const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), next: names, interrupts: object }),
  z.strictObject({
    kind: z.literal('error'),
    ...{ error: text, message: text },
    origin: z.strictObject(origin).optional(),
    refusal: z
      .strictObject({
        reason: z.enum(['not_pending', 'empty_map', 'ambiguous']),
        ...{ interruptIds: names, pendingIds: names },
      })
      .optional(),
  }),
  z.strictObject({ kind: z.literal('timeout'), message: text }),
  z.strictObject({ kind: z.literal('cancelled'), ...stop, next: names.optional() }),
  z.strictObject({ kind: z.literal('rolled-back'), ...stop }),
]);

/** A schema with all members of the type: one that is not in it would be refused. */
interface HasAll<T> {
  readonly shape: Readonly<Record<keyof T, z.ZodType>>;
}

const kwargs = z.strictObject({
  input: json,
  command: object.optional(),
  config: object,
  context: json.optional(),
  streamMode: names,
  streamSubgraphs: z.boolean(),
  interruptBefore: json.optional(),
  interruptAfter: json.optional(),
  durability: text.optional(),
  checkpointDuring: z.boolean().optional(),
  resumable: z.boolean().optional(),
  feedbackKeys: names.optional(),
  onCompletion: z.enum(['delete', 'keep']).optional(),
  madeWith: z.strictObject({ configurable: object, context: json.optional() }).optional(),
  strictResume: z.boolean().optional(),
  lateAnswer: names.optional(),
  onCancel: z.literal('keep_messages').optional(),
  protocol: z.literal('v2').optional(),
}) satisfies HasAll<Omit<RunKwargs, 'webhook'>>;

const usage = z.strictObject({
  ...{ calls: count, inputTokens: count, outputTokens: count },
  ...{ unreported: count.optional(), ms: count.optional() },
}) satisfies HasAll<Usage>;

const thread = { threadId: uuid };
const run = { threadId: uuid, runId: uuid };
const attempt = { ...run, attempt: count };
const title = text.max(160).optional();
/** A member that only files of earlier versions have. */
const mark = z.literal(true).optional();

const DATA = {
  ThreadCreated: z.strictObject({
    ...thread,
    metadata: object,
    temporary: z.boolean(),
    ttl: ttl.optional(),
    arriving: mark,
  }),
  ThreadCopied: z.strictObject({
    ...{ ...thread, from: uuid, metadata: object, head: name.nullable(), graph: graph.nullable() },
    ...{ title, ttl: ttl.optional(), arriving: mark },
  }),
  ThreadImported: z.strictObject({
    ...{ ...thread, metadata: object, ttl: ttl.optional(), past: mark },
    origin: z.strictObject({
      ...{ threadId: uuid, program: name, exportedAt: time, digest: name },
      ...{ assistants: z.array(assistant).optional(), libraries: libraries.optional() },
    }),
  }),
  ThreadUpdated: z.strictObject({ ...thread, metadata: object, ttl: ttl.optional() }),
  ThreadPruned: z.strictObject({
    ...{ ...thread, kept: z.array(key), disarms: z.boolean() },
    ...{ runs: z.array(uuid).optional(), stays: standing.optional(), title },
  }),
  RunCreated: z.strictObject({
    ...{ ...run, assistantId: name, graphId: name },
    strategy: z.enum(['reject', 'enqueue', 'interrupt', 'rollback']),
    ...{ metadata: object, kwargs, threadMetadata: object, notBefore: time, title },
  }),
  /** The lease stays where the run was executed; files of earlier versions have it. */
  RunStarted: z.strictObject({ ...attempt, leaseId: name.default(''), incarnation: name.optional() }),
  RunBegun: z.strictObject(attempt),
  RunRequeued: z.strictObject({
    ...{ ...attempt, reason: text, lost: z.boolean(), deaths: count, charges: count },
    ...{ incarnation: name.optional(), missing: name.optional() },
  }),
  RunCancelRequested: z.strictObject({ ...run, action, ...stop, keep: z.literal('messages').optional() }),
  CheckpointSaved: z.strictObject({ ...attempt, ...saved.shape, usage: usage.optional() }),
  StateUpdated: z.strictObject({
    ...{ ...thread, updateId: name, checkpoints: z.array(saved), head: name.nullable() },
    ...{ next: names, interrupts: object },
  }),
  RunCompleted: z.strictObject({
    ...{ ...attempt, outcome, remaining: count, head: name.nullable() },
    rearm: z.number().positive().optional(),
    observed: z
      .strictObject({
        ...{ steps: count, modelCalls: count },
        warnings: z.array(z.strictObject({ message: text, ...origin })),
      })
      .optional(),
    repeated: z
      .array(z.strictObject({ node: text, served: z.array(count), again: z.array(count) }))
      .optional(),
    usage: usage.optional(),
  }),
  RunDeleted: z.strictObject({
    ...{ ...run, kept: z.array(key), head: name.nullable() },
    left: z.strictObject({ runId: uuid.nullable(), outcome }).nullable(),
    stays: standing.optional(),
  }),
  ThreadDeleted: z.strictObject(thread),
} satisfies { readonly [K in keyof ThreadEventMap]: HasAll<Omit<ThreadEventMap[K], 'carrier'>> };

const CAUSED = Object.fromEntries(
  Object.entries(DATA).map(([type, schema]) => [type, schema.extend({ by: name.optional() })]),
);

/** Returns the event, or in words what is wrong with it. `data`: of the type's newest version. */
export function toThreadEvent(type: string, data: unknown): ThreadEvent | string {
  if (!Object.hasOwn(CAUSED, type)) return `${type} is no event of a thread`;
  const { success, data: read, error } = CAUSED[type]!.safeParse(data);
  if (success) return { type, data: read } as ThreadEvent;
  const [issue] = error.issues;
  return `${type}.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unknown problem'}`;
}
