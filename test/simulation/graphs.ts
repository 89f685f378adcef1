/**
 * Graph code, good and bad, by a plan that was made with its run. Each of its steps shows frames and saves a
 * checkpoint.
 *
 * X1 No other attempt at a run of the thread works beside this one, unless it was told to stop. X5 An attempt goes on
 * from its run's last checkpoint: a step that was saved is never done again.
 */
import assert from 'node:assert/strict';
import { openMeter } from '../../src/graphs/meter.ts';
import { runAttempt, type Attempt } from '../../src/graphs/attempt.ts';
import type { GraphHost, NewCheckpoint, RunEnd, RunLink, RunOrder } from '../../src/graphs/port.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import type { Random } from '../support/random.ts';
import type { Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';
import type { Schedule } from './schedule.ts';

export interface Plan {
  readonly steps: number;
  readonly framesPerStep: number;
  readonly end: 'success' | 'asks' | 'fails' | 'never';
  /** `deaf` goes on after its signal; `rogue` even writes past the frame that the host puts around it. */
  readonly manner: 'honest' | 'deaf' | 'rogue';
  readonly slow: boolean;
  /** The step that kills the server in the first `MAX_KILLS` attempts, instead of being saved. */
  readonly killsIn?: number;
}

export function makePlan(random: Random): Plan {
  return {
    steps: random.int(0, 4),
    framesPerStep: random.int(0, 3),
    end: random.pick(['success', 'success', 'success', 'asks', 'fails', 'never']),
    manner: random.pick(['honest', 'honest', 'honest', 'deaf', 'rogue']),
    slow: random.chance(0.2),
    ...(random.chance(0.03) && { killsIn: random.int(0, 2) }),
  };
}

export interface SimulatedGraphs extends GraphHost {
  /** How many attempts work. */
  readonly working: number;
}

export interface SimulatedGraphsOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly planOf: (runId: string) => Plan;
  /** Does work of this process later, if it still does anything then. */
  readonly later: (label: string, ms: number | undefined, work: () => void) => void;
  readonly isAlive: () => boolean;
  readonly crash: (why: string) => void;
}

const END: Record<Exclude<Plan['end'], 'never'>, RunEnd> = {
  success: { kind: 'success', next: [], interrupts: {} },
  asks: { kind: 'success', next: ['ask'], interrupts: { task: [{ id: 'i', value: 'sure?' }] } },
  fails: { kind: 'error', error: 'Error', message: 'planned' },
};

const MAX_KILLS = 8;

const LOST = { kind: 'lost', error: 'WorkerEnded', message: 'planned' } as const;

/** What a rogue works with: nothing between it and the server. */
type Tools = Pick<Attempt, 'store' | 'items'> & {
  frame(data: string): Promise<void>;
  stopped(): boolean;
};

export function openSimulatedGraphs(options: SimulatedGraphsOptions): SimulatedGraphs {
  const { schedule, random, faults, ledger, clock, ids, planOf, later, isAlive, crash } = options;
  const closing = new AbortController();
  const working = new Map<string, { threadId: string; signal: AbortSignal }>();

  const pause = (slow: boolean): Promise<void> =>
    new Promise((resolve) => later('graph', slow ? random.int(100, 3_000) : undefined, resolve));

  function begin({ runId, threadId, attempt, resume }: RunOrder, signal: AbortSignal): void {
    schedule.note(`  graph of ${runId}, attempt ${attempt}${resume ? ', resumes' : ''}`);
    if (!isAlive()) return;
    for (const [other, beside] of working)
      assert.ok(
        beside.threadId !== threadId || beside.signal.aborted,
        `X1 runs ${other} and ${runId} of thread ${threadId} execute at once`,
      );
    working.set(runId, { threadId, signal });
  }

  /** The step that comes next. */
  async function placeOf({ runId, resume }: RunOrder, { store }: Tools) {
    const head = await store.load('');
    const run = ledger.runs.get(runId);
    if (!resume) return { step: 0, parentId: head?.checkpointId ?? null };
    assert.equal(head?.checkpointId, run?.saved.at(-1), `X5 run ${runId} resumes elsewhere than it was`);
    return { step: Number(head?.metadata['step']) + 1, parentId: head!.checkpointId };
  }

  function kill(runId: string): Promise<never> {
    if (isAlive()) {
      faults.count('graph kills the server');
      crash(`run ${runId} kills it`);
    }
    return never();
  }

  async function work(order: RunOrder, tools: Tools): Promise<RunEnd> {
    const { runId } = order;
    const plan = planOf(runId);
    let { step, parentId } = await placeOf(order, tools);
    for (; step < plan.steps; step++) {
      await pause(plan.slow);
      if (tools.stopped() && plan.manner === 'honest') return { kind: 'stopped' };
      if (tools.stopped()) faults.count('graph ignores its signal');
      for (let number = 0; number < plan.framesPerStep; number++)
        await tools.frame(JSON.stringify({ runId, attempt: order.attempt, step, number }));
      if (step === plan.killsIn && order.attempt <= MAX_KILLS) return kill(runId);
      const checkpointId = ids.uuid();
      await tools.store.save(checkpointOf(checkpointId, parentId, runId, step));
      parentId = checkpointId;
      if (random.chance(0.2)) {
        const write = { taskId: 't', idx: 0, channel: 'at', data: '1' };
        await tools.store.saveWrites('', checkpointId, [write]);
        await tools.items.batch([{ kind: 'put', namespace: ['n'], key: order.threadId, value: { step } }]);
      }
    }
    await pause(plan.slow);
    if (plan.end === 'never') {
      faults.count('graph never ends');
      return never();
    }
    if (plan.end === 'fails') faults.count('graph fails');
    if (plan.end === 'asks') faults.count('graph asks');
    return END[plan.end];
  }

  const honest = (order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd> =>
    runAttempt(
      link,
      signal,
      clock,
      closing.signal,
      openMeter({ used: order.used, budget: undefined, elapsed: clock.monotonic }),
      (attempt) =>
        work(order, {
          store: attempt.store,
          items: attempt.items,
          async frame(data) {
            attempt.frames.push('values', data);
            await attempt.frames.ready();
          },
          stopped: () => attempt.signal.aborted,
        }),
    );

  /** Says that it ended before it did, and goes on. */
  async function rogue(order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd> {
    const tools: Tools = {
      store: link.checkpoints,
      items: link.store,
      frame: (data) => link.emit([{ event: 'values', data }]),
      stopped: () => signal.aborted,
    };
    try {
      const end = await work(order, tools);
      void (async () => {
        await pause(true);
        faults.count('write after the end of the attempt');
        await Promise.allSettled([
          tools.frame('"late"'),
          link.checkpoints.save(checkpointOf(ids.uuid(), null, order.runId, 99)),
        ]);
      })();
      return end;
    } catch (error) {
      return { kind: 'error', error: 'Error', message: String(error) };
    }
  }

  return {
    graphIds: ['graph'],
    async run(order, link, signal) {
      const began = await link.begun().catch((error: unknown) => ({ error }));
      // Its lease is gone, and with it whoever waits for the end.
      if (began !== undefined) return { kind: 'error', error: 'Error', message: String(began.error) };
      begin(order, signal);
      const { manner } = planOf(order.runId);
      const end = await (manner === 'rogue' ? rogue : honest)(order, link, signal);
      if (working.get(order.runId)?.signal === signal) working.delete(order.runId);
      // Whatever it has come to, with the thread that it ran in nobody hears of it.
      return faults.happens('worker lost') ? { ...LOST, charged: random.chance(0.4) } : end;
    },
    close: async () => closing.abort(),
    get working() {
      return working.size;
    },
  };
}

/** One of its own for each who waits: what waits for a promise is kept as long as that promise is. */
const never = (): Promise<never> => new Promise(() => undefined);

/** The state of a thread is the id of its head. */
function checkpointOf(id: string, parentId: string | null, runId: string, step: number): NewCheckpoint {
  return {
    ...{ ns: '', checkpointId: id, parentId, body: '{}', metadata: { runId, step }, step, source: 'loop' },
    channelVersions: { at: id },
    blobs: [{ channel: 'at', version: id, data: JSON.stringify(id) }],
    valueChannels: ['at'],
  };
}
