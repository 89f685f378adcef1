/** Starts what acts on committed facts without being asked: the executor, webhooks and sweepers. */
import { networkInterfaces } from 'node:os';
import type { UrlPolicy } from '../delivery/url-policy.ts';
import type { DueWatch } from '../effects/due-watch.ts';
import { startExecutor, type Executor } from '../effects/executor.ts';
import { createHttpOut } from '../effects/http-out.ts';
import { startItemSweeper } from '../effects/item-sweeper.ts';
import { createOwnOut, type OwnFetch } from '../effects/own-out.ts';
import { startSweeper } from '../effects/sweeper.ts';
import { startThreadSweeper } from '../effects/thread-sweeper.ts';
import { startWebhooks } from '../effects/webhooks.ts';
import { refuseUnmatched } from '../graphs/strict-resume.ts';
import { systemClock } from '../kernel/clock.ts';
import { isDevelopment } from '../kernel/development.ts';
import { within } from '../kernel/within.ts';
import type { Hub } from '../streams/hub.ts';
import type { Assembly } from './assembly.ts';
import type { WritePaths } from './write-paths.ts';

/** Undefined when no webhooks are sent. */
export const urlPolicyOf = ({ config: { webhooks } }: Assembly): UrlPolicy | undefined =>
  webhooks.enabled ? { ...webhooks.url, ownAddresses } : undefined;

export function startSweepers(
  { config, options: { onFault }, clock, ids, stops }: Assembly,
  { log, threads, maintenance, deliveries, items }: WritePaths,
  hub: Hub,
): void {
  const { store, threadTtl, frameRetentionMs, webhooks } = config;
  if (store.sweepIntervalMinutes !== null) {
    const intervalMs = store.sweepIntervalMinutes * 60_000;
    const sweeper = startItemSweeper({ log, items, clock, onFault, intervalMs });
    stops.push(() => sweeper.stop());
  }
  const sweeper = startSweeper({
    ...{ log, threads, deliveries, clock, ids, onFault },
    retentionMs: frameRetentionMs,
    isThreadRead: hub.isThreadRead,
    keepDeliveredMs: webhooks.keepMs,
  });
  stops.push(() => sweeper.stop());
  const threadSweeper = startThreadSweeper({
    ...{ log, threads, maintenance, clock, onFault },
    intervalMs: threadTtl.sweepIntervalMinutes * 60_000,
    limit: threadTtl.sweepLimit,
  });
  stops.push(() => threadSweeper.stop());
}

/** Time that a stop gives receivers to answer. */
const MAX_LAST_ATTEMPT_MS = 3_000;

/** `ownFetch` is undefined until the server listens: webhooks to its own paths wait for it. */
export function startDeliveries(
  { config, options: { onFault }, clock, ids, stops }: Assembly,
  { log }: WritePaths,
  due: DueWatch,
  policy: UrlPolicy,
  ownFetch: () => OwnFetch | undefined,
): void {
  const reach = { policy, clock, deadlineMs: config.webhooks.timeoutMs };
  const out = createOwnOut({ out: createHttpOut(reach), ...reach, fetch: ownFetch });
  const webhooks = startWebhooks({ log, clock, ids, out, due, onFault, settings: config.webhooks });
  stops.push(async () => {
    // No attempt begins from here on. One whose receiver answers in time ends by itself: cut off, it would be sent again.
    const stopped = webhooks.stop();
    await within(systemClock(), Math.min(config.shutdownGraceMs, MAX_LAST_ATTEMPT_MS), stopped);
    await out.close();
    await stopped;
  });
}

export function startRuns(
  { config, options: { onFault }, clock, ids, permits, graphs, stops }: Assembly,
  { log, threads, store }: WritePaths,
  due: DueWatch,
  { isRead }: Hub,
): Executor {
  const { runTimeoutMs, stopGraceMs, maxAttempts: maxCharges, shutdownGraceMs } = config;
  const executor = startExecutor({
    ...{ log, threads, store, clock, ids, due, onFault, permits, isRead },
    graphs: refuseUnmatched(graphs),
    ...{
      runTimeoutMs,
      stopGraceMs,
      maxCharges,
      recording: config.recording,
      resumeCalls: config.resumeCalls,
    },
    isDevelopment: isDevelopment(process.env),
    lingerClock: systemClock(),
  });
  stops.push(() => executor.stop(shutdownGraceMs));
  return executor;
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
