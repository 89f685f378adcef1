/** One simulated life from one seed: clients, readers, receivers and graphs, and a server that crashes among them. */
import assert from 'node:assert/strict';
import { createRandom } from '../support/random.ts';
import { seededIds } from '../support/with-log.ts';
import { createClients } from './clients.ts';
import { hasReturned } from '../../src/store/sql/nodes.ts';
import { openDisk } from './disk.ts';
import { createFaults, type Fault } from './faults.ts';
import { makePlan, type Plan } from './graphs.ts';
import { checkAll, checkEnd, checkStep, checkStops, unfinished } from './invariants.ts';
import { createLedger } from './ledger.ts';
import { startProcess, type Process, type Services, type World } from './process.ts';
import { createReaders } from './readers.ts';
import { countDisruptions, createReceivers } from './receivers.ts';
import { createSchedule } from './schedule.ts';

export interface Life {
  readonly digest: string;
  readonly steps: number;
  readonly faults: ReadonlyMap<Fault, number>;
  /** What was broken first, if anything was. */
  readonly failure: Error | undefined;
  readonly trace: readonly string[];
  readonly servers: number;
  /** Everything that the seed chose for the whole life. */
  readonly choices: object;
}

const HOUR = 3_600_000;
/** Something that was accepted comes to its end every so often, once nothing goes wrong any more. */
const PATIENCE_MS = 180_000;
const MAX_STEPS = 100_000;
/** Steps that wrote something between two looks at everything. */
const LOOK_EVERY = 80;

/** `inspect` sees the world in the middle of things, when clients have asked for all that they ask for. */
export async function liveOnce(
  seed: number,
  inspect?: (world: World) => Promise<void>,
  servers = 1,
): Promise<Life> {
  const random = createRandom(seed);
  const schedule = createSchedule(random);
  const faults = createFaults(random, servers > 1);
  let failure: Error | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
  };
  const guarded = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      fail(error);
    }
  };
  const disruptions = countDisruptions(() => schedule.elapsed);
  const receivers = createReceivers(schedule, random, faults, disruptions);
  const isBack = (id: string): boolean => disk.run(hasReturned(id));
  const onDelivered = (id: string): void => receivers.assertAccepted(id);
  const ledger = createLedger(schedule, onDelivered, servers > 1 ? isBack : undefined);
  const disk = openDisk({
    now: () => schedule.now(),
    elapsed: () => schedule.elapsed,
    hear: (events) => ledger.hear(events),
    leaseOf: (runId) => ledger.runs.get(runId)?.lease,
    fail,
    isShared: servers > 1,
  });
  const plans = new Map<string, Plan>();
  const planOf = (runId: string): Plan => {
    const plan = plans.get(runId) ?? makePlan(random);
    plans.set(runId, plan);
    return plan;
  };
  const settings = {
    servers,
    concurrency: random.int(1, 4),
    capacity: random.pick([1, 10]),
    runTimeoutMs: random.pick([8_000, 40_000]),
    retentionMs: random.pick([30_000, HOUR]),
    maxCharges: random.int(2, 4),
  };
  const ids = seededIds({ now: () => schedule.now() }, random);
  const world: World = {
    ...{ schedule, random, ids, faults, ledger, disk, receivers, planOf, fail, settings, disruptions },
  };
  const clients = createClients(world);
  const readers = createReaders(world);
  let deeds = random.int(10, 40);
  let checked = 0;
  let looked = 0;
  let since = 0;
  /** By how much the clock was set back. */
  let behind = 0;
  /** For a server that takes requests. */
  let waiting = true;

  const processes: Process[] = [];

  function boot(server: number): void {
    schedule.note(`server ${server} starts`);
    since = schedule.elapsed;
    const starting = startProcess(world, (why) => crash(server, why));
    processes[server] = starting;
    if (faults.happens('crash while starting'))
      schedule.soon('crash while starting', () => {
        if (starting === processes[server] && starting.isAlive && starting.services === undefined)
          crash(server, 'while starting');
      });
  }

  function crash(server: number, why: string): void {
    if (!processes[server]!.isAlive) return;
    schedule.note(`server ${server} crashes: ${why}`);
    end(server, faults.rates['write of a dead process'] !== 0 && random.chance(0.5));
  }

  function end(server: number, zombie: boolean): void {
    const dead = processes[server]!;
    disruptions.add();
    since = schedule.elapsed;
    dead.die(zombie);
    if (zombie) schedule.at(schedule.elapsed + 60_000, 'a zombie ends', () => dead.die(false));
    clients.lost();
    readers.leave();
    guarded(() => checkStep(world));
    schedule.at(schedule.elapsed + downTime(), 'restart', () => boot(server));
  }

  const allServers = (): number[] => Array.from({ length: servers }, (_, server) => server);
  const living = (): number[] => allServers().filter((server) => processes[server]!.isAlive);
  const serving = (): number[] => allServers().filter((server) => processes[server]!.services !== undefined);
  const oneOf = (among: readonly number[]): number => (servers > 1 ? random.pick(among) : 0);
  /** Of one of those that take requests. */
  const anyServices = (): Services | undefined =>
    serving().length === 0 ? undefined : processes[oneOf(serving())]!.services;

  function downTime(): number {
    return faults.happens('long time down')
      ? random.int(60_000, servers > 1 ? 120_000 : 12 * HOUR)
      : random.int(0, 500);
  }

  async function stopGracefully(): Promise<void> {
    const server = oneOf(serving());
    const stopping = processes[server]!;
    schedule.note(`server ${server} is told to stop`);
    faults.count('graceful stop');
    clients.lost();
    readers.leave();
    disruptions.add();
    await stopping.stop();
    schedule.note(`server ${server} has stopped`);
    if (stopping !== processes[server] || !stopping.isAlive) return;
    // Of several, one may have stopped before the store has answered.
    if (servers === 1)
      guarded(() => assert.deepEqual(stopping.remains(), [], 'a stopped process left something behind'));
    end(server, false);
  }

  function freeze(): void {
    if (servers === 1 || !faults.happens('node frozen')) return;
    const ms = random.pick([5_000, 12_000, 30_000]);
    const server = oneOf(living());
    schedule.note(`server ${server} is frozen for ${ms} ms`);
    processes[server]!.freeze(ms);
    disruptions.add();
    since = schedule.elapsed + ms;
    // When it wakes it goes on with what it was about to do.
    disruptions.add(since);
  }

  function jump(): void {
    const ms = random.int(1_000, HOUR);
    if (faults.happens('clock set forward')) schedule.jump(ms);
    // What was due by the old time is late by so much, and is not lost.
    if (faults.happens('clock set back')) {
      schedule.jump(-ms);
      behind += ms;
    }
  }

  /** The next one comes after a while, once the server takes requests. */
  function deed(): void {
    const services = anyServices();
    waiting = services === undefined;
    if (services === undefined || deeds === 0) return;
    deeds -= 1;
    jump();
    if (random.chance(0.02)) stopGracefully().catch(fail);
    else if (random.chance(0.7)) clients.act(services);
    else readers.act(services, clients.threadIds, clients.runIds);
    later();
  }

  function later(): void {
    waiting = false;
    schedule.at(schedule.elapsed + random.pick([0, 0, 1, 10, 100, 1_000, 4_000]), 'deed', deed);
  }

  async function step(until?: number): Promise<boolean> {
    const more = await schedule.step(until);
    if (failure !== undefined) return false;
    if (disk.written !== checked) {
      checked = disk.written;
      guarded(() => checkStep(world));
      if (checked - looked >= LOOK_EVERY) await look();
    }
    if (living().length > 0) {
      guarded(() => checkStops(world, since));
      if (faults.happens('crash between two steps')) crash(oneOf(living()), 'between two steps');
      else freeze();
    }
    if (waiting && serving().length > 0) later();
    assert.ok(schedule.steps < MAX_STEPS, 'the life takes too many steps');
    return more && failure === undefined;
  }

  async function look(): Promise<void> {
    looked = disk.written;
    await checkAll(world).catch(fail);
  }

  /** No fault any more: everything that was accepted comes to its end. */
  async function settle(): Promise<void> {
    faults.end();
    schedule.jump(behind);
    schedule.note('no more faults');
    // It may be down for hours yet.
    while (serving().length < servers && (await step()));
    let deadline = schedule.elapsed + PATIENCE_MS;
    let left: string[] = [];
    let open = Infinity;
    do {
      const services = anyServices();
      if (services !== undefined) readers.stay(services);
      const waiting = clients.waiting() > 0 ? [`${clients.waiting()} clients wait for an answer`] : [];
      left = [...waiting, ...unfinished(world), ...readers.behind()];
      // Runs that take all the time they may, one after the other, are no standstill.
      if (left.length < open) deadline = schedule.elapsed + PATIENCE_MS;
      open = Math.min(open, left.length);
      if (services !== undefined && left.length === 0) return;
    } while (await step(deadline));
    if (failure === undefined)
      fail(new Error(`X5 after ${PATIENCE_MS} ms without faults:\n${left.join('\n')}`));
  }

  /** Webhooks to who never answers are given up after days, which the server does not have to live through. */
  async function giveUp(): Promise<void> {
    const owed = (): boolean => [...ledger.deliveries.values()].some(({ status }) => status === 'owed');
    while (owed() && failure === undefined) {
      for (const process of processes) process.die(false);
      readers.leave();
      schedule.jump(13 * HOUR);
      disruptions.add();
      for (const server of allServers()) schedule.at(schedule.elapsed, 'restart', () => boot(server));
      const deadline = schedule.elapsed + 2_000;
      while (owed() && (await step(deadline)));
    }
  }

  async function finish(): Promise<void> {
    readers.leave();
    while (serving().length < servers && (await step()));
    let stopped = false;
    Promise.all(processes.map((process) => process.stop())).then(() => (stopped = true), fail);
    const deadline = schedule.elapsed + 30_000;
    while (!stopped && (await step(deadline)));
    if (failure !== undefined) return;
    assert.ok(stopped, 'the server does not stop');
    await look();
    for (const process of processes) checkEnd(world, process);
  }

  try {
    for (const server of allServers()) boot(server);
    // Steps that nobody waits for until the server is there.
    schedule.soon('begin', () => undefined);
    while (deeds > 0 && (await step()));
    await inspect?.(world);
    if (failure === undefined) await settle();
    if (failure === undefined) await giveUp();
    if (failure === undefined) await finish();
  } catch (error) {
    fail(error);
  } finally {
    for (const process of processes) process.die(false);
    disk.close();
  }
  return {
    digest: schedule.digest(),
    steps: schedule.steps,
    faults: faults.counts,
    failure,
    trace: schedule.trace,
    servers,
    choices: { settings, rates: faults.rates },
  };
}
