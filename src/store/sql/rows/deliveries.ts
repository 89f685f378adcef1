/** Rows of owed webhooks. A row with `next_at` is still owed; `version` lets the next fact be appended. */
import type { DeliveryStatus } from '../../../delivery/decide.ts';
import type { DeliveryEvent } from '../../../delivery/events.ts';
import { hostOf } from '../../../delivery/mask.ts';
import type { Recorded } from '../../port/events.ts';
import type { Row, RowWrite } from '../../port/rows.ts';

export function projectDelivery(event: Recorded<DeliveryEvent>): readonly RowWrite[] {
  const { at, version } = event.meta;
  const key = { delivery_id: event.data.deliveryId };
  const update = (set: Row, copy?: Readonly<Record<string, string>>): RowWrite[] => [
    { op: 'set', table: 'deliveries', key, set: { ...set, version, updated_at: at }, ...(copy && { copy }) },
  ];
  switch (event.type) {
    case 'WebhookOwed': {
      const { deliveryId, runId, threadId, url } = event.data;
      const row = {
        delivery_id: deliveryId,
        run_id: runId,
        thread_id: threadId,
        url,
        host: hostOf(url),
        status: 'owed' satisfies DeliveryStatus,
        attempts: 0,
        first: 0,
        version,
        next_at: at,
        last_status: null,
        last_error: null,
        orphan: 0,
        body: 1,
        created_at: at,
        updated_at: at,
      };
      return [{ op: 'put', table: 'deliveries', row }];
    }
    case 'WebhookDelivered': {
      const { attempt, status } = event.data;
      return update({
        status: 'delivered' satisfies DeliveryStatus,
        attempts: attempt,
        next_at: null,
        last_status: status,
        last_error: null,
      });
    }
    case 'WebhookAttemptFailed': {
      const { attempt, status, error, nextAt } = event.data;
      return update({
        status: (nextAt === null ? 'failed' : 'owed') satisfies DeliveryStatus,
        attempts: attempt,
        next_at: nextAt,
        last_status: status,
        last_error: error,
      });
    }
    case 'WebhookRedeliveryRequested':
      return update({ status: 'owed' satisfies DeliveryStatus, next_at: at }, { first: 'attempts' });
    case 'WebhookOrphaned':
      return update({ orphan: 1 });
    case 'WebhookBodyErased':
      return update({ body: 0 });
    case 'WebhookForgotten':
      return [{ op: 'drop', table: 'deliveries', key }];
  }
}
