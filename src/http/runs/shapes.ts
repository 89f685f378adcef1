/** Runs as clients see them. */
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { runEndOf } from '../../thread/run-end.ts';
import type { Usage } from '../../thread/usage.ts';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';
import { shownKwargs } from './kwargs.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

export const runError = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'RunError', description: 'Why a run did not succeed.' });

const count = z.int().min(0);
export const usage = z
  .object({ calls: count, input_tokens: count, output_tokens: count, unreported_calls: count.optional() })
  .meta({
    id: 'Usage',
    description: 'Calls of models and the tokens that these reported; `unreported_calls` reported none.',
  });

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
    usage: usage.optional().meta({ description: 'Of a run that has ended and used models.' }),
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
    kwargs: shownKwargs(run.kwargs, run.metadata),
    multitask_strategy: run.strategy,
    cancel_reason: run.cancelReason,
    ...(run.usage && { usage: shownUsage(run.usage) }),
    ...(error !== null && { error: { ...error } }),
  };
}

export const shownUsage = ({ calls, inputTokens, outputTokens, unreported }: Usage): JsonObject => ({
  ...{ calls, input_tokens: inputTokens, output_tokens: outputTokens },
  ...(unreported !== undefined && { unreported_calls: unreported }),
});

export const runResult = json.meta({
  id: 'RunResult',
  description: 'The values at the end of the run, or `{"__error__": {"error", "message"}}` when it failed.',
});
