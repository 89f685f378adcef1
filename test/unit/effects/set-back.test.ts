import assert from 'node:assert/strict';
import { createCrons, type StartCronRun } from '../../../src/actors/crons.ts';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { cronStream } from '../../../src/cron/events.ts';
import { startCrons } from '../../../src/effects/crons.ts';
import { startExecutor } from '../../../src/effects/executor.ts';
import type { HttpOut, Posted } from '../../../src/effects/http-out.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import { startWebhooks } from '../../../src/effects/webhooks.ts';
import { dueTime } from '../../../src/kernel/clock.ts';
import { getRun } from '../../../src/projections/run-queries.ts';
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

const statusOf = async ({ log }: TestThreads, runId: string) => (await getRun(log.rows, runId))?.status;

function execute({ log, clock, threads }: TestThreads): ReturnType<typeof startExecutor> {
  const ids = seededIds(clock, createRandom(3));
  const items = createItems({ log, clock, ids });
  const ttl = { refreshOnRead: false, defaultTtl: null };
  return startExecutor({
    ...{ log, clock, threads, ids, onFault, lingerClock: clock, isRead: () => true },
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
    const slow: typeof log.rows = {
      get: (sql, params) => log.rows.get(sql, params),
      all: (sql, params) => log.rows.all(sql, params),
      search: (sql, params) => asked.then(() => log.rows.all(sql, params)),
    };
    const reactor = startCrons({ log: { ...log, rows: slow }, crons, start, clock, onFault });
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

for (const way of ['back', 'forward'])
  test(`W3 pauses between attempts keep their length when the clock is set ${way}`, () =>
    withThreads(async (lent) => {
      const { log, clock } = lent;
      const sentAt: number[] = [];
      const out: HttpOut = {
        post: async (): Promise<Posted> => {
          sentAt.push(Math.round(clock.monotonic() / SECOND));
          return { kind: 'answered', status: 500 };
        },
        open: () => undefined,
        close: async () => undefined,
      };
      const pausesMs = [10, 10, 10, 10, 10].map((pause) => pause * SECOND);
      const ids = seededIds(clock, createRandom(4));
      const webhooks = startWebhooks({ log, clock, ids, out, onFault, settings: { pausesMs } });
      const kwargs = {
        ...{ input: null, config: {}, streamMode: ['values'], streamSubgraphs: false },
        webhook: 'https://a.example/hook',
      };
      await lent.done(toRunning('a', { kwargs }));
      await lent.done(ask.complete('a'));
      await pass(lent, 15 * SECOND);
      assert.equal(sentAt.length, 2, String(sentAt));
      clock.jump(ABOUT[way]!);
      await pass(lent, 60 * SECOND);
      const pauses = sentAt.slice(1).map((at, i) => at - sentAt[i]!);
      assert.equal(pauses.length, 5, String(sentAt));
      // The one that the clock jumped in is over at once when it was set forward.
      const whole = way === 'forward' ? pauses.toSpliced(1, 1) : pauses;
      for (const pause of whole) assert.ok(pause >= 10 && pause <= 14, String(pauses));
      await webhooks.stop();
    }));

test.run();
