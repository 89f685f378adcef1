/** Threads as clients see them. */
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { JsonText } from '../../kernel/json-text.ts';
import type { StorageSum, StorageUse } from '../../store/port/payloads.ts';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';
import { runError } from '../runs/shapes.ts';
import { interrupt } from './state-shapes.ts';
import type { ThreadRecord, ThreadTtl } from '../../store/port/views/threads.ts';

export const thread = z
  .object({
    thread_id: id,
    created_at: time,
    updated_at: time,
    state_updated_at: time,
    metadata: jsonObject,
    title: z
      .string()
      .optional()
      .meta({ description: 'The metadata key `title`, or the first human text; absent before it.' }),
    status: z.enum(['idle', 'busy', 'interrupted', 'error']),
    config: jsonObject.meta({ description: 'Config of the last run without its settings.' }),
    values: json.nullable().meta({ description: 'The state; null before the first run.' }),
    interrupts: z.record(z.string(), z.array(interrupt)),
    error: runError.nullish().meta({ description: 'Absent before the first run.' }),
    ttl: z
      .object({
        strategy: z.enum(['delete', 'keep_latest']),
        ttl_minutes: z.number(),
        expires_at: time.nullable(),
      })
      .optional()
      .meta({ description: 'Only with `include=ttl`.' }),
    extracted: jsonObject.optional().meta({ description: 'Only with `extract`.' }),
  })
  .meta({ id: 'Thread' });

/** `config` is that of the thread's last run. */
export function toThread(
  thread: ThreadRecord,
  { values, config }: { readonly values: JsonText | undefined; readonly config: JsonObject | undefined },
): Record<string, Json | JsonText> {
  return {
    thread_id: thread.threadId,
    created_at: toTimestamp(thread.createdAt),
    updated_at: toTimestamp(thread.updatedAt),
    state_updated_at: toTimestamp(thread.stateUpdatedAt ?? thread.createdAt),
    metadata: thread.metadata,
    ...(thread.title !== null && { title: thread.title }),
    status: thread.status,
    config: config === undefined ? {} : { ...config, configurable: {} },
    values: values ?? null,
    interrupts: thread.interrupts,
    // Present from the first run on; null after a successful one.
    ...((thread.stateUpdatedAt !== null || thread.error !== null) && { error: thread.error }),
  };
}

/** `expires_at` is null when nothing expires: the thread was pruned and no run has ended since. */
export const toTtl = ({ strategy, minutes, expiresAt }: ThreadTtl): JsonObject => ({
  strategy: strategy === 'delete' ? 'delete' : 'keep_latest',
  ttl_minutes: minutes,
  expires_at: expiresAt === null ? null : toTimestamp(expiresAt),
});

const use = z.object({ count: z.int(), bytes: z.int() });

export const storage = z
  .object({
    thread_id: id,
    total_bytes: z.int(),
    checkpoints: use,
    channel_values: use.extend({
      by_channel: z.record(z.string(), z.object({ versions: z.int(), bytes: z.int() })),
    }),
    pending_writes: use,
  })
  .meta({ id: 'ThreadStorage' });

export function toStorage(threadId: string, { checkpoints, channels, writes }: StorageUse): JsonObject {
  const sum = (pick: (each: StorageSum) => number): number =>
    channels.reduce((total, each) => total + pick(each), 0);
  const bytes = sum((each) => each.bytes);
  return {
    thread_id: threadId,
    total_bytes: checkpoints.bytes + bytes + writes.bytes,
    checkpoints: { ...checkpoints },
    channel_values: {
      count: sum((each) => each.count),
      bytes,
      by_channel: Object.fromEntries(
        channels.map((each) => [each.channel, { versions: each.count, bytes: each.bytes }]),
      ),
    },
    pending_writes: { ...writes },
  };
}
