/** One process of the server over the simulated world: the same parts as in src/serve.ts, in the same order. */
import { createDeliveries } from '../../src/actors/deliveries.ts';
import { createItems } from '../../src/actors/items.ts';
import { createStore } from '../../src/actors/store.ts';
import { createThreads, type Threads } from '../../src/actors/threads.ts';
import { createThreadMaintenance, type ThreadMaintenance } from '../../src/actors/thread-maintenance.ts';
import { watchDue } from '../../src/effects/due-watch.ts';
import { startExecutor } from '../../src/effects/executor.ts';
import { createPermits } from '../../src/effects/permits.ts';
import { recoverRuns } from '../../src/effects/recovery.ts';
import { startSweeper } from '../../src/effects/sweeper.ts';
import { startThreadSweeper } from '../../src/effects/thread-sweeper.ts';
import { startWebhooks } from '../../src/effects/webhooks.ts';
import { renderDelivery } from '../../src/http/webhooks/delivery-body.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import { openStreams, type Streams } from '../../src/streams/open-streams.ts';
import type { Random } from '../support/random.ts';
import type { Disk } from './disk.ts';
import { openFaultLog } from './fault-log.ts';
import type { Faults } from './faults.ts';
import { openSimulatedGraphs, type Plan } from './graphs.ts';
import type { Ledger } from './ledger.ts';
import type { Disruptions, Receivers } from './receivers.ts';
import { oneOfSeveral, soleNode, type SimulatedNodes } from './nodes.ts';
import { createProcessClock, createProcessSchedule, type Schedule } from './schedule.ts';

export interface World {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly ids: Ids;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly disk: Disk;
  readonly receivers: Receivers;
  readonly planOf: (runId: string) => Plan;
  /** Something is not as it has to be. */
  readonly fail: (error: unknown) => void;
  readonly settings: Settings;
  /** Counts what has happened after which a server may do again what another did. */
  readonly disruptions: Disruptions;
}

interface Settings {
  /** Servers that share the disk. */
  readonly servers: number;
  readonly concurrency: number;
  /** How many threads stay in memory. */
  readonly capacity: number;
  readonly runTimeoutMs: number;
  readonly retentionMs: number;
  readonly maxCharges: number;
}

/** What clients reach. */
export interface Services extends Omit<Streams, 'hub'> {
  readonly threads: Threads;
  readonly maintenance: ThreadMaintenance;
}

export interface Process {
  /** Once it takes requests. */
  readonly services: Services | undefined;
  readonly isAlive: boolean;
  /** Nothing of it happens for so long. */
  freeze(ms: number): void;
  /** `zombie`: its graphs go on for a while and do not know. */
  die(zombie: boolean): void;
  stop(): Promise<void>;
  /** What is left behind of one that was stopped. */
  remains(): string[];
}

export function startProcess(world: World, crash: (why: string) => void): Process {
  const { random, ids, faults, ledger, disk, receivers, planOf, fail, settings } = world;
  const schedule = createProcessSchedule(world.schedule);
  const clock = createProcessClock(schedule);
  let life: 'alive' | 'zombie' | 'dead' = 'alive';
  const isAlive = (): boolean => life === 'alive';
  const isShared = settings.servers > 1;
  const onDisruption = (): void => world.disruptions.add();
  let node!: SimulatedNodes;
  const log = openFaultLog({
    ...{ schedule, random, faults, disk, isShared, onDisruption, crash, fail },
    nodes(views) {
      const shared = { schedule, random, faults, disk, clock, ids, isAlive, fail, onDisruption };
      node = isShared ? oneOfSeveral(shared) : soleNode(views, schedule.now);
      return node.nodes;
    },
  });
  let stopping = false;
  let services: Services | undefined;
  const out = receivers.connect(clock, isAlive);
  const later = (label: string, ms: number | undefined, work: () => void): void => {
    const go = (): void => void (life !== 'dead' && work());
    if (ms === undefined) schedule.soon(label, go);
    else schedule.at(schedule.elapsed + ms, label, go);
  };
  const graphs = openSimulatedGraphs({
    ...{ schedule, random, faults, ledger, clock, ids, planOf, later, isAlive, crash },
  });
  const onFault = (error: unknown, context: string): void => {
    // A log that takes no more is what the process is about to end for.
    const isUnanswered = isShared && error instanceof Error && error.name === 'LogUnavailable';
    if (isAlive() && log.poisoned === undefined && !stopping && !isUnanswered)
      fail(new Error(`fault while ${context}`, { cause: error }));
  };
  let stops: (() => Promise<unknown> | void)[] = [
    () => node.end(true),
    () => log.close(),
    () => graphs.close(),
  ];
  let readers: () => number = () => 0;

  async function boot(): Promise<void> {
    await node.join();
    const webhooks = { enabled: true, render: renderDelivery };
    const threads = createThreads({ log, clock, ids, webhooks, capacity: settings.capacity });
    const deliveries = createDeliveries({ log, ids });
    const items = createItems({ log, clock, ids });
    const ttl = { refreshOnRead: false, defaultTtl: null };
    const store = createStore({ log, items, clock, ttl, embedder: undefined, onFault });
    const maintenance = createThreadMaintenance({ log, threads, deltaBasesOf: () => [] });
    await recoverRuns(log, threads, { maxCharges: settings.maxCharges, ids });
    const { hub, ...streams } = openStreams(log, clock);
    readers = hub.readers;
    stops.push(() => hub.close());
    const due = watchDue({ log, clock, onFault });
    stops.push(() => due.stop());
    const paying = startWebhooks({ log, clock, ids, out, due, onFault });
    stops.push(async () => {
      const stopped = paying.stop();
      await out.close();
      await stopped;
    });
    const { retentionMs } = settings;
    const sweeper = startSweeper({
      ...{ log, threads, deliveries, clock, ids, onFault, retentionMs, keepDeliveredMs: retentionMs },
      isThreadRead: hub.isThreadRead,
    });
    stops.push(() => sweeper.stop());
    const limits = { intervalMs: 60_000, limit: 100 };
    const threadSweeper = startThreadSweeper({ log, threads, maintenance, clock, onFault, ...limits });
    stops.push(() => threadSweeper.stop());
    const { concurrency, runTimeoutMs, maxCharges } = settings;
    const executor = startExecutor({
      ...{
        log,
        threads,
        store,
        graphs,
        clock,
        ids,
        due,
        onFault,
        permits: createPermits(concurrency),
        runTimeoutMs,
        maxCharges,
      },
      stopGraceMs: 5_000,
      isRead: hub.isRead,
      lingerClock: clock,
    });
    stops.push(() => executor.stop(2_000));
    services = { threads, maintenance, ...streams };
  }

  boot().catch((error: unknown) => {
    if (!isAlive()) return;
    if (isShared && error instanceof Error && error.name === 'LogUnavailable') return crash('while starting');
    // A start that cannot write ends the process, and the next one tries again.
    if (log.poisoned === undefined) fail(new Error('the process does not start', { cause: error }));
  });

  return {
    get services() {
      return isAlive() && !stopping && log.poisoned === undefined ? services : undefined;
    },
    get isAlive() {
      return isAlive();
    },
    freeze: schedule.freeze,
    die(zombie) {
      life = zombie ? 'zombie' : 'dead';
      node.end(false);
      log.die(zombie);
      clock.end();
    },
    async stop() {
      stopping = true;
      const begun = stops;
      stops = [];
      for (const stop of begun.reverse()) await stop();
    },
    remains() {
      const left = { listeners: log.listeners, readers: readers(), requests: out.underWay };
      const counted = Object.entries(left).filter(([, count]) => count > 0);
      return [...clock.waiting().map((place) => `a timer, ${place}`), ...counted.map(String)];
    },
  };
}
