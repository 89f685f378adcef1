/** X7 Decides whether an attempt at a run keeps what it is answered for the next one, and gives it what earlier ones kept. */
import type { OrderedRun } from '../graphs/run-order.ts';
import type { Ids } from '../kernel/ids.ts';
import type { CallsOrder } from '../recording/order.ts';
import type { EventLog } from '../store/port/log.ts';

/** `keys`: requests that have no idempotency key get one. */
export type ResumeCalls = boolean | 'keys';

/** Returns the UTF-16 units of all prints and calls that earlier attempts at the run have noted. */
export const notedBy = async (runId: string, { payloads }: Pick<EventLog, 'payloads'>): Promise<number> =>
  (await payloads.calls(runId)).reduce((sum, { length }) => sum + length, 0);

const MAX_KEPT_BYTES = 16 * 2 ** 20;

/** `resume_calls` in the config of the run, or of its assistant, overrides the deployment's setting. */
export async function callsOf(
  { kwargs, runId, attempt }: OrderedRun,
  byDefault: ResumeCalls,
  charges: number,
  { payloads }: Pick<EventLog, 'payloads'>,
  ids: Pick<Ids, 'token'>,
): Promise<CallsOrder | undefined> {
  const { resume_calls: isOn = byDefault } = kwargs.config;
  if (isOn !== true && isOn !== 'keys') return undefined;
  const kept = attempt > 1 ? await payloads.resume(runId) : [];
  return {
    ...{ seed: ids.token(), charges, keys: isOn === 'keys', maxBytes: MAX_KEPT_BYTES },
    kept: kept.map((part) => Buffer.from(part).toString('base64')),
  };
}
