/** What the receiver of a webhook reads. A4 Nothing of the user's secrets: it is what clients read of the run. */
import type { RenderDelivery } from '../actors/consequences.ts';
import { toTimestamp } from '../kernel/clock.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { writeJson, type JsonText } from '../kernel/json-text.ts';
import type { RunRecord } from '../projections/run-queries.ts';
import { runStatus } from '../projections/threads.ts';
import type { Outcome } from '../thread/events.ts';
import { toRun } from './wire.ts';

/** The body of a webhook: the run record with how and when it ended. `sentAt` is fixed, so every attempt is equal. */
export function renderDelivery(
  run: RunRecord,
  outcome: Outcome,
  values: JsonText | undefined,
  sentAt: number,
): string {
  const ended = toTimestamp(sentAt);
  return writeJson({
    ...toRun(run),
    status: runStatus(outcome),
    updated_at: ended,
    run_started_at: run.startedAt === null ? null : toTimestamp(run.startedAt),
    run_ended_at: ended,
    webhook_sent_at: ended,
    values: values ?? null,
    error: errorOf(outcome),
  });
}

function errorOf(outcome: Outcome): Json {
  if (outcome.kind === 'error') return { error: outcome.error, message: outcome.message };
  if (outcome.kind === 'timeout') return { error: 'TimeoutError', message: outcome.message };
  return null;
}

/** Leaves only the members that are wanted, and `run_id`; `fields` undefined: all. */
export function limitDelivery(render: RenderDelivery, fields: readonly string[] | undefined): RenderDelivery {
  if (fields === undefined) return render;
  const wanted = new Set(['run_id', ...fields]);
  return (...args) =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(JSON.parse(render(...args)) as JsonObject).filter(([name]) => wanted.has(name)),
      ),
    );
}
