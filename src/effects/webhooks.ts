/**
 * The reactor that delivers owed webhooks.
 *
 * W1 Owed deliveries are read from the log, so they survive any process end. W2 Every attempt of a delivery carries
 * the same id and the same signed bytes. W3 A receiver has few concurrent attempts (`host-gate.ts`), and slow attempts
 * release their slot. A delivery has its own stream and never changes its run.
 */
import { createDeliveries } from '../actors/deliveries.ts';
import { isUnwell, type Posted } from '../delivery/decide.ts';
import { hostOf, maskIn } from '../delivery/mask.ts';
import { createSigner } from '../delivery/signature.ts';
import { dueTime, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { EventLog } from '../store/port/log.ts';
import type { DueWatch } from './due-watch.ts';
import type { OnFault } from './fault.ts';
import { createHostGate } from './host-gate.ts';
import type { HttpOut } from './http-out.ts';
import type { DeliveryRecord } from '../store/port/views/deliveries.ts';

export interface WebhooksOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly due: DueWatch;
  readonly ids: Ids;
  readonly out: HttpOut;
  readonly onFault: OnFault;
  readonly settings?: DeliverySettings;
}

interface DeliverySettings {
  /** Secrets of the form `whsec_<base64>`; each adds a signature. */
  readonly secrets?: readonly string[];
  /** Headers of every attempt. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Pauses between attempts in milliseconds, before jitter. */
  readonly pausesMs?: readonly number[] | undefined;
  /** Maximum of concurrent attempts to one host. */
  readonly perHost?: number;
}

export interface Webhooks {
  /** Starts no further attempts and waits until those in progress are recorded. */
  stop(): Promise<void>;
}

/** Concurrent attempts that are not slow yet; `MAX_ATTEMPTS` bounds the memory of all attempts. */
const MAX_QUICK_ATTEMPTS = 64;
const MAX_ATTEMPTS = 512;
/** An attempt that takes longer releases its slot. */
const SLOW_MS = 500;
const MIN_DELAY_MS = 10;

export function startWebhooks(options: WebhooksOptions): Webhooks {
  const { log, clock, ids, out, due: watch, onFault, settings = {} } = options;
  const sign = createSigner(settings.secrets ?? []);
  const deliveries = createDeliveries({ log, ids });
  const gate = createHostGate(settings.perHost ?? 4);
  const secrets = Object.values(settings.headers ?? {});
  const underWay = new Map<string, Promise<void>>();
  /** Deliveries whose attempt ended since the last question was asked, whose answer may be older. */
  const justEnded = new Set<string>();
  /** Deliveries in progress that hold a slot. */
  const quick = new Set<string>();
  /** Hosts to check next; `all` when they are not known. */
  let pendingHosts: Set<string> | 'all' | undefined;
  let starved = false;
  let stopping = false;
  let cancelWait: () => void = () => undefined;
  let chain: Promise<void> = Promise.resolve();
  /** How far the clock of an earlier process was ahead: its pauses go on by it. */
  let leadMs: number | undefined;

  function pump(hosts: readonly string[] | 'all'): void {
    if (stopping) return;
    const isPlanned = pendingHosts !== undefined;
    if (hosts === 'all' || pendingHosts === 'all') pendingHosts = 'all';
    else pendingHosts = new Set([...(pendingHosts ?? []), ...hosts]);
    if (!isPlanned)
      chain = chain.then(claim).catch((error: unknown) => onFault(error, 'reading owed webhooks'));
  }

  const slots = (): number => Math.min(MAX_QUICK_ATTEMPTS - quick.size, MAX_ATTEMPTS - underWay.size);

  async function claim(): Promise<void> {
    const asked = pendingHosts ?? 'all';
    pendingHosts = undefined;
    if (stopping) return;
    const now = dueTime(clock);
    leadMs ??= log.nodes.isShared ? 0 : await log.views.deliveries.lead(now);
    const ahead = now + leadMs;
    for (const host of asked === 'all' ? await log.views.deliveries.dueHosts(ahead) : asked) {
      const room = gate.room(host, clock.monotonic());
      if (room <= 0) continue;
      justEnded.clear();
      const ask = (): Promise<DeliveryRecord[]> =>
        log.views.deliveries.due(host, now, room + gate.underWay(host), ahead);
      const isFree = ({ deliveryId: id }: DeliveryRecord): boolean => !underWay.has(id) && !justEnded.has(id);
      const found = (await ask()).filter(isFree);
      const { id: node } = log.nodes;
      const own = new Set(await log.nodes.reserve(found.map(({ deliveryId }) => deliveryId)));
      // Another node may have ended its attempt just before it released the delivery.
      const due = log.nodes.isShared && own.size > 0 ? await ask() : found;
      if (stopping || log.nodes.id !== node) return;
      for (const delivery of due.filter((each) => own.has(each.deliveryId) && isFree(each)).slice(0, room)) {
        if (slots() <= 0) {
          starved = true;
          continue;
        }
        own.delete(delivery.deliveryId);
        // `open` precedes the attempt: a local failure must not use up one of the delivery's attempts.
        out.open(delivery.url);
        begin(delivery);
      }
      for (const deliveryId of own) await log.nodes.release(deliveryId);
    }
    waitForHosts();
  }

  /** Claims again when the next host takes attempts. */
  function waitForHosts(): void {
    const at = clock.monotonic();
    const next = gate.nextOpening(at);
    cancelWait();
    if (stopping || next === undefined) return;
    cancelWait = clock.after(Math.max(MIN_DELAY_MS, next - at), () => pump('all'));
  }

  function begin(delivery: DeliveryRecord): void {
    const { deliveryId, host } = delivery;
    const release = (): void => {
      quick.delete(deliveryId);
      if (!starved) return;
      starved = false;
      pump('all');
    };
    quick.add(deliveryId);
    gate.begin(host);
    const cancelSlow = clock.after(SLOW_MS, release);
    const done = attempt(delivery)
      .finally(() => log.nodes.release(deliveryId))
      .then(({ isWell, at }) => gate.end(host, isWell, at))
      .catch((error: unknown) => {
        gate.end(host, false, clock.monotonic());
        onFault(error, `webhook ${deliveryId}`);
      })
      .finally(() => {
        cancelSlow();
        underWay.delete(deliveryId);
        justEnded.add(deliveryId);
        release();
        pump([host]);
      });
    underWay.set(deliveryId, done);
  }

  /** `at`: end of the attempt in monotonic milliseconds. */
  async function attempt({ deliveryId, url }: DeliveryRecord): Promise<{ isWell: boolean; at: number }> {
    const body = await log.payloads.body(deliveryId);
    const began = clock.monotonic();
    const posted: Posted =
      body === undefined
        ? { kind: 'denied', error: 'its body is missing from the log' }
        : await out.post(url, headersOf(deliveryId, body), body);
    const at = clock.monotonic();
    const ms = Math.round(at - began);
    await deliveries.record(deliveryId, withoutSecrets(posted, url), {
      ms,
      now: clock.now(),
      dueFrom: dueTime(clock),
      pausesMs: settings.pausesMs,
    });
    return { isWell: !isUnwell(posted), at };
  }

  const headersOf = (deliveryId: string, body: string): Record<string, string> => ({
    'user-agent': PRODUCT,
    ...settings.headers,
    'content-type': 'application/json',
    ...sign(deliveryId, clock.now(), body),
  });

  /** Masks secrets in the answer: a receiver may echo what it was sent. */
  function withoutSecrets(posted: Posted, url: string): Posted {
    if (posted.kind !== 'answered') return { ...posted, error: maskIn(posted.error, url, secrets) };
    if (posted.response === undefined) return posted;
    return { ...posted, response: maskIn(posted.response, url, secrets) };
  }

  const unsubscribeDue = watch.on('deliveries', () => pump('all'));
  const unsubscribe = log.onCommitted(({ events }) => {
    const hosts = events.flatMap(({ type, data }) => (type === 'WebhookOwed' ? [hostOf(data.url)] : []));
    const isUnknown = events.some(({ type }) => type === 'WebhookRedeliveryRequested');
    if (isUnknown) pump('all');
    else if (hosts.length > 0) pump(hosts);
  });
  // Stops sending when the log is poisoned: an unrecorded delivery would stay due and be sent again and again.
  const unsubscribePoisoned = log.onPoisoned(() => (stopping = true));
  pump('all');

  return {
    async stop() {
      stopping = true;
      unsubscribeDue();
      unsubscribe();
      unsubscribePoisoned();
      cancelWait();
      await chain;
      await Promise.all(underWay.values());
    },
  };
}
