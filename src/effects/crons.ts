/**
 * The reactor that starts the runs of crons.
 *
 * X5 What is due is read from the rows, so a lost wake-up, a restart or a clock that jumps delays a run and never loses
 * it; what is done about slots that were missed is the aggregate's to say (cron/decide.ts). A cron whose run cannot be
 * started now (the auth handler does not answer, say) is asked again later and holds up no other. A start plans anew
 * what a clock that was far ahead had planned.
 */
import type { Crons, StartCronRun } from '../actors/crons.ts';
import { nextSlot } from '../cron/schedule.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../log/log.ts';
import { dueCrons, nextDueCron, searchCrons } from '../projections/cron-queries.ts';
import type { OnFault } from './fault.ts';

export interface CronReactorOptions {
  readonly log: EventLog;
  readonly crons: Crons;
  readonly start: StartCronRun;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

const AT_ONCE = 16;
/** The net under lost wake-ups, and how soon a wall clock that jumped is noticed. */
const POLL_MS = 1_000;
/** Pauses after a fault: twice as long each time. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
const PLANNED_PAGE = 200;

/** `stop` starts nothing more and waits for what is under way. */
export function startCrons({ log, crons, start, clock, onFault }: CronReactorOptions): {
  stop(): Promise<void>;
} {
  const underWay = new Map<string, Promise<void>>();
  /** Crons that failed, until a moment of the clock that never jumps. */
  const held = new Map<string, { readonly pauseMs: number; readonly until: number }>();
  let stopping = false;
  let cancelPoll: () => void = () => undefined;
  let chain: Promise<void> = Promise.resolve();

  function pump(): void {
    if (stopping) return;
    chain = chain.then(claim).catch((error: unknown) => onFault(error, 'reading due crons'));
  }

  async function claim(): Promise<void> {
    if (stopping) return;
    cancelPoll();
    cancelPoll = clock.after(POLL_MS, pump);
    const now = clock.now();
    const waiting = [...held].filter(([, { until }]) => until > clock.monotonic()).map(([cronId]) => cronId);
    for (const [cronId, { until }] of held)
      if (until + LONGEST_PAUSE_MS < clock.monotonic()) held.delete(cronId);
    const free = AT_ONCE - underWay.size;
    const except = [...underWay.keys(), ...waiting];
    if (free > 0) for (const cronId of await dueCrons(log.rows, now, free, except)) begin(cronId);
    const next = await nextDueCron(log.rows, now);
    if (next === undefined || next - now >= POLL_MS || stopping) return;
    cancelPoll();
    cancelPoll = clock.after(next - now, pump);
  }

  function begin(cronId: string): void {
    const done = fireAll(cronId)
      .then(() => void held.delete(cronId))
      .catch((error: unknown) => {
        const pauseMs = Math.min((held.get(cronId)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
        held.set(cronId, { pauseMs, until: clock.monotonic() + pauseMs });
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

  /** A cron that a wrong clock planned would wait until that clock's time. */
  async function replan(): Promise<void> {
    const now = clock.now();
    if ((await nextDueCron(log.rows, now)) === undefined) return;
    const search = { enabled: true, sortBy: 'cron_id', sortOrder: 'asc', limit: PLANNED_PAGE } as const;
    for (let offset = 0; !stopping; offset += PLANNED_PAGE) {
      const { crons: page } = await searchCrons(log.rows, { ...search, offset });
      for (const cron of page) {
        const { cronId, nextAt } = cron;
        const soonest = nextSlot(cron, now);
        if (stopping || nextAt === null || soonest === null || nextAt <= soonest) continue;
        await crons.dispatch(cronId, { type: 'ReplanCron', now });
      }
      if (page.length < PLANNED_PAGE) return;
    }
  }

  const unsubscribe = log.onCommitted(({ events }) => {
    if (events.some(({ type }) => type === 'CronCreated' || type === 'CronUpdated')) pump();
  });
  const unsubscribePoisoned = log.onPoisoned(() => (stopping = true));
  pump();
  const replanned = replan().catch((error: unknown) => onFault(error, 'planning crons'));

  return {
    async stop() {
      stopping = true;
      unsubscribe();
      unsubscribePoisoned();
      cancelPoll();
      await Promise.all([chain, replanned]);
      cancelPoll();
      await Promise.all(underWay.values());
    },
  };
}
