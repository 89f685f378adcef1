/** What the receiver of a webhook reads. A4 Nothing of the user's secrets: it is what clients read of the run. */
import type { RenderDelivery } from '../actors/derived-writes.ts';
import { toTimestamp } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { writeJson, type JsonText } from '../kernel/json-text.ts';
import type { RunRecord } from '../projections/run-queries.ts';
import type { Outcome } from '../thread/events.ts';
import { cancelReasonOf, runEndOf } from '../thread/run-end.ts';
import { toRun } from './serializers.ts';

/** The body of a webhook: the run record with how and when it ended. `sentAt` is fixed, so every attempt is equal. */
export function renderDelivery(
  run: RunRecord,
  outcome: Outcome,
  values: JsonText | undefined,
  sentAt: number,
): string {
  const ended = toTimestamp(sentAt);
  const end = runEndOf(outcome, run);
  return writeJson({
    ...toRun(run),
    status: end.webhook,
    cancel_reason: cancelReasonOf(outcome),
    updated_at: ended,
    run_started_at: run.startedAt === null ? null : toTimestamp(run.startedAt),
    run_ended_at: ended,
    webhook_sent_at: ended,
    values: values ?? null,
    error: end.error,
  });
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
