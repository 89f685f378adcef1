import assert from 'node:assert/strict';
import { createCrons, type StartCronRun } from '../../../src/actors/crons.ts';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { cronStream } from '../../../src/cron/events.ts';
import { startCrons } from '../../../src/effects/crons.ts';
import { watchDue } from '../../../src/effects/due-watch.ts';
import { startExecutor } from '../../../src/effects/executor.ts';
import type { HttpOut, Posted } from '../../../src/effects/http-out.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import { startWebhooks } from '../../../src/effects/webhooks.ts';
import { dueTime } from '../../../src/kernel/clock.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { toRunning, withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects, a clock that is set');

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const ABOUT: Record<string, number> = { back: -2 * HOUR, forward: 2 * HOUR };

const onFault = (error: unknown): void => assert.fail(String(error));

/** Lets everything be done that is due by then. */
async function pass({ clock, log }: TestThreads, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await clock.advance(250);
    await log.readAll(0, 1);
  }
}

const statusOf = async ({ log }: TestThreads, runId: string) => (await log.views.runs.get(runId))?.status;

function execute({ log, clock, threads }: TestThreads): ReturnType<typeof startExecutor> {
  const ids = seededIds(clock, createRandom(3));
  const items = createItems({ log, clock, ids });
  const ttl = { refreshOnRead: false, defaultTtl: null };
  return startExecutor({
    ...{ log, clock, threads, ids, onFault, lingerClock: clock, isRead: () => true },
    due: watchDue({ log, clock, onFault }),
    ...{ runTimeoutMs: 24 * HOUR, maxCharges: 3, stopGraceMs: 5_000, permits: createPermits(4) },
    store: createStore({ log, items, clock, ttl, embedder: undefined, onFault }),
    graphs: {
      graphIds: ['graph'],
      run: async () => ({ kind: 'success', next: [], interrupts: {} }),
      close: async () => undefined,
    },
  });
}

test('X5 a delayed run starts after its delay though the clock was set back', () =>
  withThreads(async (lent) => {
    const executor = execute(lent);
    await lent.done([
      ask.createThread(),
      ask.createRun('a', 'enqueue', { notBefore: dueTime(lent.clock) + 4 * SECOND }),
    ]);
    await pass(lent, SECOND);
    lent.clock.jump(-2 * HOUR);
    await pass(lent, 2 * SECOND);
    assert.equal(await statusOf(lent, 'a'), 'pending');
    await pass(lent, 3 * SECOND);
    assert.equal(await statusOf(lent, 'a'), 'success');
    await lent.done(ask.createRun('b', 'enqueue', { notBefore: dueTime(lent.clock) + 4 * SECOND }));
    await pass(lent, 3 * SECOND);
    assert.equal(await statusOf(lent, 'b'), 'pending');
    await pass(lent, 3 * SECOND);
    assert.equal(await statusOf(lent, 'b'), 'success');
    await executor.stop(0);
  }));

test('no slot fires twice when the clock is set while a start still reads which crons there are (L1)', () =>
  withThreads(async (lent) => {
    const { log, clock, threads } = lent;
    const ids = seededIds(clock, createRandom(5));
    const crons = createCrons({ log, clock, ids, catchUp: { mode: 'one', limit: 100 } });
    // given: a cron that has fired
    const content = {
      ...{ assistantId: 'a', threadId: THREAD, schedule: '* * * * *', timezone: null, endTime: null },
      ...{ enabled: true, onRunCompleted: null, userId: null, payload: {}, metadata: {} },
    };
    await lent.done(ask.createThread());
    await crons.dispatch('c', { type: 'CreateCron', cronId: 'c', content });
    const start: StartCronRun = async ({ runId, slotFact }) => {
      const done = await threads.dispatch(THREAD, [ask.createRun(runId)], { extraAppends: [slotFact] });
      assert.ok(done.ok);
      return { kind: 'started' };
    };
    await clock.advance(60 * SECOND);
    assert.equal(await crons.fire('c', start), true);
    // when: a server starts while the clock is two days back, and the clock is right before its search is answered
    clock.jump(-48 * HOUR);
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const { views } = log;
    const slow: typeof views.crons = {
      ...views.crons,
      search: (...wanted) => asked.then(() => views.crons.search(...wanted)),
    };
    const reactor = startCrons({
      log: { ...log, views: { ...views, crons: slow } },
      crons,
      start,
      clock,
      due: watchDue({ log, clock, onFault }),
      onFault,
    });
    await pass(lent, SECOND);
    clock.jump(48 * HOUR);
    await pass(lent, 120 * SECOND);
    answer();
    await pass(lent, 60 * SECOND);
    await reactor.stop();
    // then
    const slots = (await log.readStream(cronStream('c'), 1, 100)).flatMap(({ type, data }) =>
      type === 'CronFired' ? [new Date(data.slot).toISOString().slice(14, 16)] : [],
    );
    assert.deepEqual(slots, ['01', '02', '03', '04']);
  }));

/** The same clock for a process that starts now. */
const restarted = (lent: TestThreads): TestThreads => ({ ...lent, clock: { ...lent.clock } });

test('X5 runs of a clock that was days ahead go on after a start with the right one, delays included', () =>
  withThreads(async (lent) => {
    // given: a queued and a delayed run of a clock that is ahead
    lent.clock.jump(48 * HOUR);
    const notBefore = dueTime(lent.clock) + 4 * SECOND;
    await lent.done([
      ask.createThread(),
      ask.createRun('queued', 'enqueue'),
      ask.createRun('delayed', 'enqueue', { notBefore }),
    ]);
    // when: a server starts with the right clock, and gets a delayed run of its own
    lent.clock.jump(-48 * HOUR);
    const after = restarted(lent);
    const executor = execute(after);
    await after.done(ask.createRun('own', 'enqueue', { notBefore: dueTime(after.clock) + 20 * SECOND }));
    // then
    await pass(after, 2 * SECOND);
    assert.deepEqual(await Promise.all(['queued', 'delayed', 'own'].map((run) => statusOf(after, run))), [
      'success',
      'pending',
      'pending',
    ]);
    await pass(after, 4 * SECOND);
    assert.equal(await statusOf(after, 'delayed'), 'success');
    assert.equal(await statusOf(after, 'own'), 'pending');
    await pass(after, 16 * SECOND);
    assert.equal(await statusOf(after, 'own'), 'success');
    await executor.stop(0);
  }));

const HOOK = 'https://a.example/hook';

/** Starts webhooks whose receiver answers 500 to everything; `sentAt` are the seconds of the attempts by delivery. */
function deliver({ log, clock }: TestThreads, sentAt: Map<string, number[]>, pauses: number) {
  const out: HttpOut = {
    async post(_url, headers): Promise<Posted> {
      const id = headers['webhook-id']!;
      sentAt.set(id, [...(sentAt.get(id) ?? []), Math.round(clock.monotonic() / SECOND)]);
      return { kind: 'answered', status: 500 };
    },
    open: () => undefined,
    close: async () => undefined,
  };
  const pausesMs = Array.from({ length: pauses }, () => 10 * SECOND);
  const ids = seededIds(clock, createRandom(4));
  const due = watchDue({ log, clock, onFault });
  return startWebhooks({ log, clock, ids, out, due, onFault, settings: { pausesMs } });
}

/** Ends a run that owes a webhook. */
async function owe(lent: TestThreads, runId: string, isFirst = true): Promise<void> {
  const settings = { input: null, config: {}, streamMode: ['values'], streamSubgraphs: false };
  const kwargs = { ...settings, webhook: HOOK };
  await lent.done(isFirst ? toRunning(runId, { kwargs }) : toRunning(runId, { kwargs }).slice(1));
  await lent.done(ask.complete(runId));
}

test('W1 webhooks of a clock that was days ahead go on after a start with the right one', () =>
  withThreads(async (lent) => {
    // given: a delivery that failed once, and one that no attempt was made at, by a clock that is ahead
    const sentAt = new Map<string, number[]>();
    lent.clock.jump(48 * HOUR);
    const ahead = deliver(lent, sentAt, 1);
    await owe(lent, 'a');
    await pass(lent, SECOND);
    await ahead.stop();
    await owe(lent, 'b', false);
    // when: a server starts with the right clock
    lent.clock.jump(-48 * HOUR);
    const after = restarted(lent);
    const webhooks = deliver(after, sentAt, 1);
    // then: the one is sent at once, the other after its pause
    await pass(after, 30 * SECOND);
    await webhooks.stop();
    const [failed, owed] = [...sentAt.values()] as [number[], number[]];
    assert.ok(owed[0]! <= 2, String(owed));
    const pause = failed[1]! - failed[0]!;
    assert.ok(pause >= 10 && pause <= 17, String(failed));
  }));

for (const way of ['back', 'forward'])
  test(`W3 pauses between attempts keep their length when the clock is set ${way}`, () =>
    withThreads(async (lent) => {
      const sent = new Map<string, number[]>();
      const webhooks = deliver(lent, sent, 5);
      await owe(lent, 'a');
      await pass(lent, 15 * SECOND);
      assert.equal([...sent.values()][0]?.length, 2, String([...sent]));
      lent.clock.jump(ABOUT[way]!);
      await pass(lent, 60 * SECOND);
      const [sentAt] = [...sent.values()] as [number[]];
      const pauses = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
      assert.equal(pauses.length, 5, String(sentAt));
      // The one that the clock jumped in is over at once when it was set forward.
      const whole = way === 'forward' ? pauses.toSpliced(1, 1) : pauses;
      for (const pause of whole) assert.ok(pause >= 10 && pause <= 14, String(pauses));
      await webhooks.stop();
    }));

test.run();
