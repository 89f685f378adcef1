/** From a request about a cron, and what the auth handler left of it, to what the cron is. Throws a 422 or a denial. */
import type { Actor } from '../auth/authenticate.ts';
import type { CronContent } from '../cron/events.ts';
import { findScheduleProblem, nextSlot } from '../cron/schedule.ts';
import { toTimestamp } from '../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import { parseSecret, renderSecret } from '../thread/secret.ts';
import { grantedMetadata, type Granted } from './access.ts';
import type { ServerContext } from './context.ts';
import { invalid } from './replies.ts';
import { cronPayload, PAYLOAD_KEYS } from './schemas/crons.ts';

/** The body as it was sent, with the cron's id among the settings of its runs. */
export function payloadOf(cronId: string, body: Json | undefined): JsonObject {
  const sent = isObject(body) ? body : {};
  const config = isObject(sent['config']) ? sent['config'] : {};
  const configurable = isObject(config['configurable']) ? config['configurable'] : {};
  return { ...sent, config: { ...config, configurable: { ...configurable, cron_id: cronId } } };
}

/** The members of a payload that runs are created with; a null is a member that was not given. */
export const orderOf = (payload: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(payload).filter(([key, value]) => PAYLOAD_KEYS.includes(key) && value !== null),
  );

/** What may be written. A fault when the handler made of it what no client could send. */
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

/** Every field by itself is right; this is about what they say together, and about now. */
export function checkTimes(
  { schedule, timezone, endTime }: Pick<CronContent, 'schedule' | 'timezone' | 'endTime'>,
  now: number,
): void {
  if (nextSlot({ schedule, timezone }, now) === null) throw invalid('schedule: expected one that ever comes');
  if (endTime !== null && endTime <= now)
    throw invalid(`end_time: expected a time after now, ${toTimestamp(now)}`);
}

/** What the runs will need of their maker. */
export function newSecret(cronId: string, actor: Actor): PayloadWrite[] {
  const data = renderSecret(actor);
  return data === undefined ? [] : [{ kind: 'cron-secret', cronId, data }];
}

/** The maker may have come with newer secrets; whoever else changes the cron does not become its maker. */
export async function renewedSecret(
  { log }: ServerContext,
  { cronId, userId }: { cronId: string; userId: string | null },
  { user, inherited }: Actor,
): Promise<PayloadWrite[]> {
  if ((user?.identity ?? null) !== userId) return [];
  const old = await log.payloads.cronSecret(cronId);
  const data = renderSecret({ ...parseSecret(old), ...(user && { user }), ...(inherited && { inherited }) });
  if (data === undefined || data === old) return [];
  // Erased first: what is replaced has to be gone from the files as well.
  return [
    { kind: 'erase-cron-secret', cronId },
    { kind: 'cron-secret', cronId, data },
  ];
}
