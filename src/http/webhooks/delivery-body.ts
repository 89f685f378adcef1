/** Renders webhook bodies. A4 They hold no secrets of the user: the source is the run record that clients read. */
import type { RenderDelivery } from '../../actors/derived-writes.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { writeJson, type JsonText } from '../../kernel/json-text.ts';
import type { Outcome } from '../../thread/events.ts';
import { cancelReasonOf, runEndOf } from '../../thread/run-end.ts';
import { toRun } from '../runs/shapes.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import type { ThreadLeft } from '../../store/port/views/threads.ts';

/** The run record with the run's end. `sentAt` (ms) is the time of the commit, so that every attempt is equal (W2). */
export function renderDelivery(
  run: RunRecord,
  outcome: Outcome,
  values: JsonText | undefined,
  sentAt: number,
  thread: ThreadLeft | undefined,
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
    thread_status: thread?.status ?? null,
    interrupts: thread?.interrupts ?? {},
  });
}

/** Limits the body to `run_id` and the members in `fields`; undefined means all members. */
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
