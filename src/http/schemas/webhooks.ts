import { z } from 'zod';
import { name, offset, oneOf, optional, uuid } from './common.ts';
import { time } from './time.ts';

const moment = time.meta({ type: 'string', format: 'date-time' });

/** Page size: small, because each webhook includes its attempts. */
const LIMIT = 'expected an integer from 1 to 100';
const pageSize = z
  .int(LIMIT)
  .min(1, LIMIT)
  .max(100, LIMIT)
  .nullish()
  .transform((value) => value ?? 10);

export const webhookList = z.object({
  run_id: optional(uuid),
  thread_id: optional(uuid),
  host: optional(name),
  state: optional(oneOf(['owed', 'delivered', 'failed'])),
  limit: pageSize,
  offset,
});

/** Selects webhooks that became owed at or after `since` and before `until`. */
export const webhookRedeliver = z
  .object(
    {
      since: moment,
      until: optional(moment),
      run_id: optional(uuid),
      thread_id: optional(uuid),
      host: optional(name),
      state: oneOf(['delivered', 'failed'])
        .nullish()
        .transform((value) => value ?? 'failed'),
    },
    'expected an object with since',
  )
  .refine(({ since, until }) => until === undefined || since < until, {
    path: ['until'],
    message: 'expected a time after since',
  });
