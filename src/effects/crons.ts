/**
 * The reactor that starts the runs of due crons.
 *
 * X5 Due crons are read from rows: a lost wake-up, a restart or a clock jump delays a run but never loses it.
 * `cron/decide.ts` decides about missed slots. A cron whose run cannot start now is retried later and delays no other
 * cron. A server start plans crons anew in case the clock had been ahead.
 */
import type { Crons, StartCronRun } from '../actors/crons.ts';
import { plan } from '../cron/decide.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../store/port/log.ts';
import { whenReserved } from '../store/port/nodes.ts';
import type { DueWatch } from './due-watch.ts';
import type { OnFault } from './fault.ts';

export interface CronReactorOptions {
  readonly log: EventLog;
  readonly crons: Crons;
  readonly start: StartCronRun;
  readonly clock: Clock;
  readonly due: DueWatch;
  readonly onFault: OnFault;
}

const MAX_CONCURRENT_CRONS = 16;
/** Pauses after faults double, from the first to the longest. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;
const REPLAN_PAGE_ROWS = 200;

/** `stop` starts no further runs and waits for those being started. */
export function startCrons({ log, crons, start, clock, due, onFault }: CronReactorOptions): {
  stop(): Promise<void>;
} {
  const underWay = new Map<string, Promise<void>>();
  /** Failed crons, each paused until a time of the monotonic clock. */
  const paused = new Map<string, { readonly pauseMs: number; readonly until: number }>();
  let stopping = false;
  let chain: Promise<void> = Promise.resolve();

  function pump(): void {
    if (stopping) return;
    chain = chain.then(claim).catch((error: unknown) => onFault(error, 'reading due crons'));
  }

  async function claim(): Promise<void> {
    if (stopping) return;
    const now = clock.now();
    const waiting = [...paused]
      .filter(([, { until }]) => until > clock.monotonic())
      .map(([cronId]) => cronId);
    for (const [cronId, { until }] of paused)
      if (until + MAX_PAUSE_MS < clock.monotonic()) paused.delete(cronId);
    const free = MAX_CONCURRENT_CRONS - underWay.size;
    const except = [...underWay.keys(), ...waiting];
    if (free > 0) for (const cronId of await log.views.crons.due(now, free, except)) begin(cronId);
  }

  function begin(cronId: string): void {
    const done = whenReserved(log.nodes, `cron ${cronId}`, () => fireAll(cronId))
      .then(() => void paused.delete(cronId))
      .catch((error: unknown) => {
        const pauseMs = Math.min((paused.get(cronId)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, MAX_PAUSE_MS);
        paused.set(cronId, { pauseMs, until: clock.monotonic() + pauseMs });
        onFault(error, `cron ${cronId}`);
      })
      .finally(() => {
        underWay.delete(cronId);
        pump();
      });
    underWay.set(cronId, done);
  }

  async function fireAll(cronId: string): Promise<void> {
    while (!stopping && (await crons.fire(cronId, start)));
  }

  /** Plans crons anew that a clock ahead has planned: their next slot is late, or missing before their end. */
  async function replan(): Promise<void> {
    if (!(await log.views.crons.hasPlanned(clock.now()))) return;
    const search = { enabled: true, sortBy: 'cron_id', sortOrder: 'asc', limit: REPLAN_PAGE_ROWS } as const;
    for (let offset = 0; !stopping; offset += REPLAN_PAGE_ROWS) {
      const { crons: page } = await log.views.crons.search({ ...search, offset });
      for (const cron of page) {
        const { cronId, nextAt } = cron;
        const soonest = plan(cron, clock.now());
        if (stopping || soonest === null || (nextAt !== null && nextAt <= soonest)) continue;
        await crons.dispatch(cronId, { type: 'ReplanCron' });
      }
      if (page.length < REPLAN_PAGE_ROWS) return;
    }
  }

  const unsubscribe = due.on('crons', pump);
  const unsubscribePoisoned = log.onPoisoned(() => (stopping = true));
  pump();
  const replanned = replan().catch((error: unknown) => onFault(error, 'planning crons'));

  return {
    async stop() {
      stopping = true;
      unsubscribe();
      unsubscribePoisoned();
      await Promise.all([chain, replanned]);
      await Promise.all(underWay.values());
    },
  };
}
