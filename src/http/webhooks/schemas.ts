import { z } from 'zod';
import { limit, name, offset, oneOf, optional, time, uuid, withDefault } from '../fields.ts';

export const webhookList = z.object({
  run_id: optional(uuid),
  thread_id: optional(uuid),
  host: optional(name),
  state: optional(oneOf(['owed', 'delivered', 'failed'])),
  /** Small, because each webhook includes its attempts. */
  limit: limit(10, 100),
  offset,
});

/** Selects webhooks that became owed at or after `since` and before `until`. */
export const webhookRedeliver = z
  .object(
    {
      since: time,
      until: optional(time),
      run_id: optional(uuid),
      thread_id: optional(uuid),
      host: optional(name),
      state: withDefault(oneOf(['delivered', 'failed']), 'failed'),
    },
    'expected an object with since',
  )
  .refine(({ since, until }) => until === undefined || since < until, {
    path: ['until'],
    message: 'expected a time after since',
  });
