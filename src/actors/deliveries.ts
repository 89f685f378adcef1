/**
 * The write path of webhook deliveries. D1 Events are decided here on the version that was read, and decided anew
 * after a concurrency conflict.
 */
import { judgeAttempt, type AttemptFacts, type Posted } from '../delivery/decide.ts';
import type { DeliveryEvent } from '../delivery/events.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import { toWrites } from './delivery-writes.ts';
import { commit, CONFLICT, untilCommitted } from './aggregate.ts';
import type { DeliveryRecord } from '../store/port/views/deliveries.ts';

export interface Deliveries {
  /** Records the result of an attempt. Rejects with `LogUnavailable`. */
  record(deliveryId: string, posted: Posted, attempt: AttemptFacts): Promise<void>;
  /**
   * Makes the delivery owed again, with a fresh schedule. Returns false when its body or the whole delivery is gone.
   */
  redeliver(deliveryId: string): Promise<boolean>;
  /** Erases the body, which rules out redelivery. Does nothing while the delivery is owed. */
  eraseBody(deliveryId: string): Promise<void>;
}

export function createDeliveries({ log, ids }: { log: EventLog; ids: Ids }): Deliveries {
  /** `decide` returns no events when nothing has to change; `change` then returns false. */
  async function change(
    deliveryId: string,
    decide: (delivery: DeliveryRecord) => Promise<readonly DeliveryEvent[]> | readonly DeliveryEvent[],
  ): Promise<boolean> {
    const commandId = ids.uuid();
    const attempt = async (): Promise<boolean | typeof CONFLICT> => {
      const delivery = await log.views.deliveries.get(deliveryId);
      if (delivery === undefined) return false;
      const events = await decide(delivery);
      if (events.length === 0) return false;
      const { append, payloads } = toWrites(delivery, events);
      // Vital: an unrecorded attempt would be repeated at once.
      const result = await commit(log, { commandId, isVital: true, appends: [append], payloads });
      return result.kind === 'version-conflict' ? CONFLICT : true;
    };
    return untilCommitted(`delivery ${deliveryId}`, attempt);
  }

  return {
    async record(deliveryId, posted, attempt) {
      await change(deliveryId, (delivery) => {
        // Another server, which took this one for dead, has ended it meanwhile.
        if (delivery.status !== 'owed') return [];
        const event = judgeAttempt(posted, delivery, attempt);
        const isOver = event.type === 'WebhookDelivered' || event.data.nextAt === null;
        return isOver && delivery.orphan
          ? [event, { type: 'WebhookForgotten', data: { deliveryId } }]
          : [event];
      });
    },
    redeliver: (deliveryId) =>
      change(deliveryId, async ({ orphan }) => {
        const body = orphan ? undefined : await log.payloads.body(deliveryId);
        return body === undefined ? [] : [{ type: 'WebhookRedeliveryRequested', data: { deliveryId } }];
      }),
    async eraseBody(deliveryId) {
      await change(deliveryId, ({ status, hasBody }) =>
        status === 'owed' || !hasBody ? [] : [{ type: 'WebhookBodyErased', data: { deliveryId } }],
      );
    },
  };
}
