/** Schemas of replies. Schemas with an id become components of the document; tests compare real replies with them. */
import { z } from 'zod';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';

const runError = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'RunError', description: 'Why a run did not succeed.' });

const interrupt = z
  .looseObject({ id: z.string().optional(), value: json })
  .meta({ id: 'Interrupt', description: 'A question of the graph, answered by `command.resume`.' });

export const checkpoint = z
  .object({
    thread_id: z.string(),
    checkpoint_ns: z.string(),
    checkpoint_id: z.string().nullish(),
    checkpoint_map: jsonObject.nullish(),
  })
  .meta({ id: 'Checkpoint', description: 'A place in the history of a thread.' });

export const thread = z
  .object({
    thread_id: id,
    created_at: time,
    updated_at: time,
    state_updated_at: time,
    metadata: jsonObject,
    status: z.enum(['idle', 'busy', 'interrupted', 'error']),
    config: jsonObject.meta({ description: 'Of the last run: `tags` and its like, never its settings.' }),
    values: json.nullable().meta({ description: 'The state; null before the first run.' }),
    interrupts: z.record(z.string(), z.array(interrupt)),
    error: runError.nullish().meta({ description: 'From the first run on.' }),
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

const task = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.array(json),
    error: z.string().nullable(),
    interrupts: z.array(interrupt),
    checkpoint: checkpoint.nullable(),
    get state(): z.ZodNullable<z.ZodType> {
      return threadState.nullable();
    },
    result: json.nullable(),
  })
  .meta({ id: 'ThreadTask' });

export const threadState: z.ZodType = z
  .object({
    values: json,
    next: z.array(z.string()),
    tasks: z.array(task),
    checkpoint: checkpoint.nullable(),
    parent_checkpoint: checkpoint.nullable(),
    checkpoint_id: z.string().nullable(),
    parent_checkpoint_id: z.string().nullable(),
    metadata: jsonObject.nullable(),
    created_at: z.string().nullable(),
    interrupts: z.array(interrupt),
  })
  .meta({ id: 'ThreadState' });

export const run = z
  .object({
    run_id: id,
    thread_id: id,
    assistant_id: id,
    created_at: time,
    updated_at: time,
    status: z.enum(['pending', 'running', 'success', 'error', 'timeout', 'interrupted']),
    metadata: jsonObject,
    kwargs: jsonObject.meta({ description: 'What the run was created with.' }),
    multitask_strategy: z.enum(['reject', 'enqueue', 'interrupt', 'rollback']),
    cancel_reason: z.string().nullable().meta({ description: 'Of a run that was told to stop.' }),
    error: runError.optional().meta({ description: 'Of a run that did not succeed.' }),
  })
  .meta({ id: 'Run' });

export const runResult = json.meta({
  id: 'RunResult',
  description: 'The values at the end of the run, or `{"__error__": {"error", "message"}}` when it failed.',
});
