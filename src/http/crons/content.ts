/** Builds the content of a cron from a request and the auth handler's changes. */
import type { Actor } from '../../auth/authenticate.ts';
import type { CronContent } from '../../cron/events.ts';
import { findScheduleProblem, nextSlot } from '../../cron/schedule.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { PayloadWrite } from '../../store/port/payloads.ts';
import { parseSecret, renderSecret } from '../../thread/secret.ts';
import { grantedMetadata, type Granted } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { invalid } from '../replies.ts';
import { cronPayload, PAYLOAD_KEYS } from './schemas.ts';

/** The request body with `cron_id` added to `config.configurable`. */
export function payloadOf(cronId: string, body: Json | undefined): JsonObject {
  const sent = isObject(body) ? body : {};
  const config = isObject(sent['config']) ? sent['config'] : {};
  const configurable = isObject(config['configurable']) ? config['configurable'] : {};
  return { ...sent, config: { ...config, configurable: { ...configurable, cron_id: cronId } } };
}

/** The members of a payload that runs are created with. Members that are null are left out. */
export const orderOf = (payload: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(payload).filter(([key, value]) => PAYLOAD_KEYS.includes(key) && value !== null),
  );

/** The values to write, after the handler's changes. Throws a `TypeError` (a 500) when they do not match the schema. */
export function grantedCron(
  granted: Granted,
  before?: JsonObject,
): { payload: JsonObject; metadata: JsonObject; schedule?: string } {
  const { value } = granted;
  const payload = value['payload'] ?? {};
  const parsed = cronPayload.safeParse(payload);
  if (!parsed.success || !isObject(payload))
    throw new TypeError(`the auth handler left a payload that is not valid: ${parsed.error?.message}`);
  const { schedule } = value;
  const isGiven = schedule !== undefined && schedule !== null;
  if (isGiven && (typeof schedule !== 'string' || findScheduleProblem(schedule) !== undefined))
    throw new TypeError('the auth handler left a schedule that is not valid');
  return {
    payload,
    metadata: grantedMetadata(granted, before),
    ...(isGiven && { schedule: schedule as string }),
  };
}

/** Throws a 422 for a schedule that never fires and for an `end_time` in the past. The schema has checked each field. */
export function checkTimes(
  { schedule, timezone, endTime }: Pick<CronContent, 'schedule' | 'timezone' | 'endTime'>,
  now: number,
): void {
  if (nextSlot({ schedule, timezone }, now) === null)
    throw invalid('schedule: expected one with a time in the future');
  if (endTime !== null && endTime <= now)
    throw invalid(`end_time: expected a time after now, ${toTimestamp(now)}`);
}

/** Payload write that keeps the creator's secrets for the runs of the cron; empty when there are none. */
export function newSecret(cronId: string, actor: Actor): PayloadWrite[] {
  const data = renderSecret(actor);
  return data === undefined ? [] : [{ kind: 'cron-secret', cronId, data }];
}

/** Payload writes that update the creator's secrets from this request; empty when another user sent it. */
export async function renewedSecret(
  { log }: ServerContext,
  { cronId, userId }: { cronId: string; userId: string | null },
  { user, inherited }: Actor,
): Promise<PayloadWrite[]> {
  if ((user?.identity ?? null) !== userId) return [];
  const old = await log.payloads.cronSecret(cronId);
  const data = renderSecret({ ...parseSecret(old), ...(user && { user }), ...(inherited && { inherited }) });
  if (data === undefined || data === old) return [];
  // The erasure comes first: it also removes the old secret from the database files.
  return [
    { kind: 'erase-cron-secret', cronId },
    { kind: 'cron-secret', cronId, data },
  ];
}
