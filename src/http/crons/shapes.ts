/** Crons as clients see them. A4 The URL of the webhook is masked: it may hold secrets. */
import { z } from 'zod';
import { maskUrl } from '../../delivery/mask.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';
import type { CronRecord } from '../../store/port/views/crons.ts';

export const cron = z
  .object({
    cron_id: id,
    assistant_id: id,
    thread_id: id.nullable(),
    on_run_completed: z.enum(['delete', 'keep']).nullable(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    end_time: time.nullable(),
    enabled: z.boolean(),
    created_at: time,
    updated_at: time,
    next_run_date: time.nullable().meta({ description: 'Time of the next run; null when there is none.' }),
    refused: z.object({ slot: time, reason: z.string() }).optional().meta({
      description: 'Why the last slot started no run; absent when it started one.',
    }),
    user_id: z.string().nullable(),
    payload: jsonObject.meta({ description: 'The request as it was sent; its runs are created with it.' }),
    metadata: jsonObject,
  })
  .meta({ id: 'Cron' });

export function toCron(cron: CronRecord): JsonObject {
  const { webhook } = cron.payload;
  return {
    cron_id: cron.cronId,
    assistant_id: cron.assistantId,
    thread_id: cron.threadId,
    on_run_completed: cron.onRunCompleted,
    schedule: cron.schedule,
    timezone: cron.timezone,
    end_time: cron.endTime === null ? null : toTimestamp(cron.endTime),
    enabled: cron.enabled,
    created_at: toTimestamp(cron.createdAt),
    updated_at: toTimestamp(cron.updatedAt),
    next_run_date: cron.nextAt === null ? null : toTimestamp(cron.nextAt),
    ...(cron.refused && {
      refused: { slot: toTimestamp(cron.refused.slot), reason: cron.refused.reason },
    }),
    user_id: cron.userId,
    payload: { ...cron.payload, ...(typeof webhook === 'string' && { webhook: maskUrl(webhook) }) },
    metadata: cron.metadata,
  };
}
