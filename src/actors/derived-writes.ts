/**
 * Derives what a thread's events write in the same commit: secrets, purges and owed webhooks.
 *
 * W1 A delivery is owed from the commit that ends the run. A4 A user's secrets are erased with the run's end. L3 Deletion of a thread purges for good; pruning
 * and rollback purge single runs.
 */
import type { Clock } from '../kernel/clock.ts';
import { uuidv5 } from '../kernel/ids.ts';
import type { JsonText } from '../kernel/json-text.ts';
import { onSourceDeleted } from '../delivery/decide.ts';
import { deliveryStream, type DeliveryEvent } from '../delivery/events.ts';
import type { Append, EventLog, Lease } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import { toWrites } from './delivery-writes.ts';
import { threadStream, type Outcome, type ThreadEvent } from '../thread/events.ts';
import { deletionOf } from './cron-deletion.ts';
import { lastFrames } from './last-frames.ts';
import type { DeliveryRecord } from '../store/port/views/deliveries.ts';
import type { RunRecord } from '../store/port/views/runs.ts';
import type { ThreadLeft } from '../store/port/views/threads.ts';

/** Renders the body of a webhook. */
export type RenderDelivery = (
  run: RunRecord,
  outcome: Outcome,
  values: JsonText | undefined,
  at: number,
  /** Undefined for a thread that is deleted with its run's end. */
  thread: ThreadLeft | undefined,
) => string;

export interface WebhookPolicy {
  readonly enabled: boolean;
  readonly render: RenderDelivery;
}

export interface DerivedWrites {
  readonly payloads: readonly PayloadWrite[];
  readonly appends: readonly Append[];
}

export const NOTHING_DERIVED: DerivedWrites = { payloads: [], appends: [] };

/** UUIDv5 namespace of delivery ids: a retried commit of a run's end yields the same delivery id. */
const DELIVERY_ID_NAMESPACE = 'a4f0e6d2-4f6b-5c57-9d39-0d1f5f0f3c11';

export interface DerivedFrom {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly webhooks: WebhookPolicy;
  /** Lease of the executor that commits; it writes the last frames of its run itself. */
  readonly lease: Lease | undefined;
  /** Whether the run of the lease has a webhook; undefined if that is not known. */
  readonly owesWebhook: boolean | undefined;
  /** The server deletes the thread by itself: a repeated request must not execute its run again. */
  readonly isTemporary: boolean;
  /** Payloads of the same commit: they are not in the log yet when the state is read. */
  readonly payloads: readonly PayloadWrite[];
}

export async function derivedWrites(
  events: readonly ThreadEvent[],
  version: number,
  { log, clock, webhooks, lease, owesWebhook, isTemporary, payloads: own }: DerivedFrom,
): Promise<DerivedWrites> {
  const payloads: PayloadWrite[] = [];
  const appends: Append[] = [];
  const isDeleted = events.some(({ type }) => type === 'ThreadDeleted');

  function releaseDeliveries(deliveries: readonly DeliveryRecord[]): void {
    for (const delivery of deliveries) {
      const event: DeliveryEvent | undefined = onSourceDeleted(delivery);
      if (event === undefined) continue;
      const writes = toWrites(delivery, [event]);
      appends.push(writes.append);
      payloads.push(...writes.payloads);
    }
  }

  for (const [index, { type, data }] of events.entries()) {
    switch (type) {
      case 'RunCompleted': {
        const { runId, threadId, outcome, usage = null } = data;
        if (lease === undefined && !isDeleted && data.attempt > 0)
          payloads.push(...(await lastFrames(log, data)));
        payloads.push({ kind: 'erase-secret', runId });
        if (data.attempt > 0) payloads.push({ kind: 'erase-resume', runId });
        const known = lease?.runId === runId ? owesWebhook : undefined;
        const owes = webhooks.enabled && (known ?? (await log.views.runs.owesWebhook(runId)));
        const run = owes ? await log.views.runs.get(runId) : undefined;
        const url = run?.kwargs.webhook;
        if (run !== undefined && url !== undefined) {
          const deliveryId = uuidv5(runId, DELIVERY_ID_NAMESPACE);
          const values = data.head === null ? undefined : await log.payloads.values(threadId, data.head, own);
          const thread = isDeleted ? undefined : await log.views.threads.leftBy(data);
          const body = webhooks.render({ ...run, usage }, outcome, values, clock.now(), thread);
          payloads.push({ kind: 'body', deliveryId, threadId, data: body });
          appends.push({
            stream: deliveryStream(deliveryId),
            expected: 0,
            events: [
              { type: 'WebhookOwed', data: { deliveryId, runId, threadId, url } },
              ...(isDeleted || outcome.kind === 'rolled-back'
                ? [{ type: 'WebhookOrphaned', data: { deliveryId } } as const]
                : []),
            ],
          });
        }
        // The rollback purges follow the webhook body, which reports the values that the rollback returns to.
        if (outcome.kind === 'rolled-back')
          payloads.push(
            { kind: 'forget-checkpoints', threadId, runId, kept: [] },
            { kind: 'forget-frames', runId, threadId },
            { kind: 'redact-runs', stream: threadStream(threadId), runIds: [runId] },
          );
        break;
      }
      case 'ThreadCopied':
        payloads.push({ kind: 'copy-checkpoints', from: data.from, threadId: data.threadId });
        break;
      case 'ThreadPruned': {
        const { threadId, kept, runs = [] } = data;
        const gone = new Set(runs);
        releaseDeliveries((await log.views.deliveries.of(threadId)).filter(({ runId }) => gone.has(runId)));
        payloads.push(
          { kind: 'forget-requests', stream: threadStream(threadId), runIds: runs },
          { kind: 'keep-checkpoints', threadId, kept },
          { kind: 'forget-thread-frames', threadId },
          { kind: 'redact-runs', stream: threadStream(threadId), runIds: runs },
        );
        break;
      }
      case 'RunDeleted': {
        const { threadId, runId, kept } = data;
        releaseDeliveries(await log.views.deliveries.of(threadId, runId));
        payloads.push(
          { kind: 'forget-requests', stream: threadStream(threadId), runIds: [runId] },
          { kind: 'forget-checkpoints', threadId, runId, kept },
          { kind: 'forget-frames', runId, threadId },
          { kind: 'redact-runs', stream: threadStream(threadId), runIds: [runId] },
        );
        break;
      }
      case 'ThreadDeleted': {
        const { threadId } = data;
        // A thread's crons are deleted with it.
        const crons = deletionOf(await log.views.crons.of({ threadId }));
        appends.push(...crons.appends);
        payloads.push(...crons.payloads);
        releaseDeliveries(await log.views.deliveries.of(threadId));
        const stream = threadStream(threadId);
        if (!isTemporary) payloads.push({ kind: 'forget-requests', stream });
        payloads.push({ kind: 'purge-thread', threadId, stream, tombstone: version + index + 1 });
        break;
      }
    }
  }
  return { payloads, appends };
}
