/**
 * The reactor that pays owed webhooks.
 *
 * W1 What is owed is read from the log, so it survives any end of the process. W2 Every attempt of a delivery carries
 * the same id and the same bytes. W3 One receiver takes at most `PER_HOST` of the slots. A delivery never touches its
 * run: it has a stream of its own.
 */
import { deliveryStream, type DeliveryEvent } from '../delivery/events.ts';
import { pauseAfter, retryAfterMs } from '../delivery/schedule.ts';
import { createSigner } from '../delivery/signature.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import { dueDeliveries, nextDueDelivery, type DueDelivery } from '../projections/delivery-queries.ts';
import { getThread } from '../projections/thread-queries.ts';
import type { OnFault } from './fault.ts';
import type { HttpOut, Posted } from './http-out.ts';

export interface WebhooksOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly out: HttpOut;
  readonly onFault: OnFault;
  readonly settings?: DeliverySettings;
}

export interface DeliverySettings {
  /** `whsec_<base64>`; all of them sign. */
  readonly secrets?: readonly string[];
  /** Sent with every attempt. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds between the attempts, before jitter. */
  readonly pausesMs?: readonly number[];
}

export interface Webhooks {
  /** Sends nothing more and waits for the attempts under way to be recorded. */
  stop(): Promise<void>;
}

const AT_ONCE = 32;
const PER_HOST = 4;
const POLL_MS = 5_000;

export function startWebhooks(options: WebhooksOptions): Webhooks {
  const { log, clock, ids, out, onFault, settings = {} } = options;
  const sign = createSigner(settings.secrets ?? []);
  const underWay = new Map<string, { host: string; done: Promise<void> }>();
  let stopping = false;
  let cancelPoll: () => void = () => undefined;
  let chain: Promise<void> = Promise.resolve();

  function pump(): void {
    if (stopping) return;
    chain = chain.then(claim).catch((error: unknown) => onFault(error, 'reading owed webhooks'));
  }

  async function claim(): Promise<void> {
    if (stopping) return;
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, pump);
    const now = clock.now();
    // One at a time, so that a host that is full is left out of the next question and hides nobody behind it.
    while (underWay.size < AT_ONCE) {
      const [due] = await dueDeliveries(log.rows, now, 1, { hosts: fullHosts(), ids: [...underWay.keys()] });
      if (due === undefined || stopping) break;
      const done = attempt(due)
        .catch((error: unknown) => onFault(error, `webhook ${due.deliveryId}`))
        .finally(() => {
          underWay.delete(due.deliveryId);
          pump();
        });
      underWay.set(due.deliveryId, { host: due.host, done });
    }
    const next = await nextDueDelivery(log.rows, now);
    if (next === undefined || next - now >= POLL_MS || stopping) return;
    cancelPoll();
    cancelPoll = clock.after(next - now, pump);
  }

  function fullHosts(): string[] {
    const hosts = [...underWay.values()].map(({ host }) => host);
    return [...new Set(hosts)].filter((host) => hosts.filter((other) => other === host).length >= PER_HOST);
  }

  async function attempt(due: DueDelivery): Promise<void> {
    const { deliveryId } = due;
    const body = await log.payloads.body(deliveryId);
    const began = clock.monotonic();
    const posted: Posted =
      body === undefined
        ? { kind: 'failed', error: 'its body is missing from the log' }
        : await out.post(
            due.url,
            {
              ...{ 'user-agent': 'threadwell', ...settings.headers, 'content-type': 'application/json' },
              ...sign(deliveryId, clock.now(), body),
            },
            body,
          );
    const ms = Math.round(clock.monotonic() - began);
    const event = resultOf(posted, due, ms, clock.now(), settings.pausesMs);
    const isOver =
      event.type === 'WebhookDelivered' ||
      (event.type === 'WebhookAttemptFailed' && event.data.nextAt === null);
    // A body that nobody will send again is kept only where it can be looked at: with its thread (L3).
    const erase =
      isOver &&
      (event.type === 'WebhookDelivered' || (await getThread(log.rows, due.threadId)) === undefined);
    const payloads: PayloadWrite[] = erase ? [{ kind: 'erase-body', deliveryId }] : [];
    const appends = [{ stream: deliveryStream(deliveryId), expected: due.version, events: [event] }];
    const result = await log.commit({ commandId: ids.uuid(), appends, payloads });
    if (result.kind !== 'committed') throw new Error(`the attempt could not be recorded: ${result.kind}`);
  }

  const unsubscribe = log.onCommitted(({ events }) => {
    if (events.some(({ type }) => type === 'WebhookOwed')) pump();
  });
  // What cannot be recorded must not be sent: the delivery would stay due and go out again and again.
  const unsubscribePoisoned = log.onPoisoned(() => (stopping = true));
  pump();

  return {
    async stop() {
      stopping = true;
      unsubscribe();
      unsubscribePoisoned();
      cancelPoll();
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}

const GONE = 410;

function resultOf(
  posted: Posted,
  due: DueDelivery,
  ms: number,
  now: number,
  pausesMs: readonly number[] | undefined,
): DeliveryEvent {
  const { deliveryId } = due;
  const attempt = due.attempts + 1;
  if (posted.kind === 'answered' && posted.status >= 200 && posted.status < 300)
    return { type: 'WebhookDelivered', data: { deliveryId, attempt, status: posted.status, ms } };
  const isFinal = posted.kind === 'denied' || (posted.kind === 'answered' && posted.status === GONE);
  const pause = isFinal ? undefined : pauseAfter(attempt, deliveryId, pausesMs);
  const asked = posted.kind === 'answered' ? retryAfterMs(posted.retryAfter, now) : 0;
  const [status, error] =
    posted.kind === 'answered'
      ? [posted.status, `the receiver answered ${posted.status}`]
      : [null, posted.error];
  const nextAt = pause === undefined ? null : now + Math.max(pause, asked);
  return { type: 'WebhookAttemptFailed', data: { deliveryId, attempt, status, error, ms, nextAt } };
}
