/** Runs as clients see them. A4 The URL of the webhook is masked, and kwargs hold no secrets of users. */
import { z } from 'zod';
import { maskUrl } from '../../delivery/mask.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { RunRecord } from '../../projections/run-queries.ts';
import type { RunKwargs } from '../../thread/events.ts';
import { runEndOf } from '../../thread/run-end.ts';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';

export const runError = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'RunError', description: 'Why a run did not succeed.' });

export const run = z
  .object({
    run_id: id,
    thread_id: id,
    assistant_id: id,
    created_at: time,
    updated_at: time,
    status: z.enum(['pending', 'running', 'success', 'error', 'timeout', 'interrupted']),
    metadata: jsonObject,
    kwargs: jsonObject.meta({ description: 'Input and settings that the run was created with.' }),
    multitask_strategy: z.enum(['reject', 'enqueue', 'interrupt', 'rollback']),
    cancel_reason: z.string().nullable().meta({ description: 'Why the run was cancelled.' }),
    error: runError.optional().meta({ description: 'Only of a run that did not succeed.' }),
  })
  .meta({ id: 'Run' });

/** `error` is present when the run did not succeed. */
export function toRun(run: RunRecord): JsonObject {
  const error = run.outcome && runEndOf(run.outcome, run).error;
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    created_at: toTimestamp(run.createdAt),
    updated_at: toTimestamp(run.updatedAt),
    status: run.status,
    metadata: run.metadata,
    kwargs: toKwargs(run.kwargs, run.metadata),
    multitask_strategy: run.strategy,
    cancel_reason: run.cancelReason,
    ...(error !== null && { error: { ...error } }),
  };
}

export const DEFAULT_DURABILITY = 'async';

/** `metadata` is that of the run; it overrides `config.metadata`. */
export function toKwargs(kwargs: RunKwargs, metadata: JsonObject): JsonObject {
  return {
    input: kwargs.input,
    command: kwargs.command ?? null,
    ...(kwargs.strictResume === true && { strict_resume: true }),
    config: {
      ...kwargs.config,
      metadata: { ...(kwargs.config['metadata'] as JsonObject | undefined), ...metadata },
    },
    context: kwargs.context ?? {},
    stream_mode: [...kwargs.streamMode],
    interrupt_before: kwargs.interruptBefore ?? null,
    interrupt_after: kwargs.interruptAfter ?? null,
    webhook: kwargs.webhook === undefined ? null : maskUrl(kwargs.webhook),
    feedback_keys: kwargs.feedbackKeys === undefined ? null : [...kwargs.feedbackKeys],
    subgraphs: kwargs.streamSubgraphs,
    resumable: kwargs.resumable ?? false,
    temporary: kwargs.onCompletion === 'delete',
    checkpoint_during: kwargs.checkpointDuring ?? true,
    durability: kwargs.durability ?? DEFAULT_DURABILITY,
  };
}

export const runResult = json.meta({
  id: 'RunResult',
  description: 'The values at the end of the run, or `{"__error__": {"error", "message"}}` when it failed.',
});
