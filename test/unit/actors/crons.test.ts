import assert from 'node:assert/strict';
import { createCrons, type Crons, type CronStarted, type StartCronRun } from '../../../src/actors/crons.ts';
import { LogUnavailable } from '../../../src/store/port/log-failures.ts';
import type { CronContent } from '../../../src/cron/events.ts';
import { cronStream } from '../../../src/cron/events.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { cronTimelineOf, timelineOf } from '../../../src/past/tell/timeline.ts';
import { verify } from '../../../src/past/verify/verify.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { withThreads, type TestThreads } from './with-threads.ts';

const test = suite('actors, crons');

const MINUTE = 60_000;
const CRON = '01980000-0000-7000-8000-00000000000c';
const content = (more: Partial<CronContent> = {}): CronContent => ({
  ...{
    assistantId: 'a',
    threadId: THREAD,
    schedule: '* * * * *',
    timezone: null,
    endTime: null,
    enabled: true,
  },
  ...{ onRunCompleted: null, userId: null, payload: {}, metadata: {} },
  ...more,
});

interface Given extends Omit<TestThreads, 'another'> {
  readonly crons: Crons;
  /** Creates the run as the server does. */
  readonly start: StartCronRun;
  /** Another write path over the same log. */
  another(wrap?: (log: EventLog) => EventLog): Crons;
  typesOf(stream: string): Promise<string[]>;
}

const withCrons = (use: (given: Given) => Promise<void>): Promise<void> =>
  withThreads(async (lent) => {
    const ids = seededIds(lent.clock, createRandom(2));
    const another = (wrap = (log: EventLog): EventLog => log): Crons =>
      createCrons({ log: wrap(lent.log), clock: lent.clock, ids, catchUp: { mode: 'one', limit: 100 } });
    const crons = another();
    await lent.done(ask.createThread());
    const payloads = [{ kind: 'cron-secret', cronId: CRON, data: 'canary' }] as const;
    await crons.dispatch(CRON, { type: 'CreateCron', cronId: CRON, content: content() }, { payloads });
    await use({
      ...lent,
      get log() {
        return lent.log;
      },
      crons,
      another,
      async start({ runId, threadId, slotFact }): Promise<CronStarted> {
        const done = await lent.threads.dispatch(threadId, [ask.createRun(runId)], {
          extraAppends: [slotFact],
        });
        if (done.ok) return { kind: 'started' };
        return done.refusal.code === 'concurrency-conflict'
          ? { kind: 'conflict' }
          : { kind: 'refused', reason: done.refusal.code };
      },
      typesOf: async (stream) => (await lent.log.readStream(stream, 1, 100)).map(({ type }) => type),
    });
    await lent.past(async (history) => assert.equal((await verify(history)).finding, undefined));
  });
const secretOf = (given: Given) => given.log.payloads.cronSecret(CRON);

test('L1 a slot fired again after a start broke before, at or after its commit has one run', () =>
  withCrons(async (given) => {
    const { crons, clock, start, typesOf } = given;
    await clock.advance(MINUTE);
    const broken = new Error('no answer');
    await assert.rejects(
      crons.fire(CRON, () => Promise.reject(broken)),
      broken,
    );
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronCreated']);
    await assert.rejects(
      crons.fire(CRON, async (order) => {
        await start(order);
        throw broken;
      }),
      broken,
    );
    // The slot and its run came together, so it is known that there is no more to do.
    assert.equal(await crons.fire(CRON, start), false);
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronCreated', 'CronFired']);
    assert.deepEqual(await typesOf(`thread-${THREAD}`), ['ThreadCreated', 'RunCreated']);
  }));

test('L2 given two writers of one log, when both fire the same slot, then it has one run', () =>
  withCrons(async ({ crons, another, clock, start, typesOf }) => {
    await clock.advance(MINUTE);
    const other = another();
    await crons.fire(CRON, async (order) => {
      assert.equal(await other.fire(CRON, start), true);
      return start(order);
    });
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronCreated', 'CronFired']);
    assert.deepEqual(await typesOf(`thread-${THREAD}`), ['ThreadCreated', 'RunCreated']);
  }));

test('given a cron that is changed while it fires, when the run is to be created, then it is decided anew', () =>
  withCrons(async ({ crons, another, clock, start, typesOf }) => {
    await clock.advance(MINUTE);
    const other = another();
    let asked = 0;
    const fired = await crons.fire(CRON, async (order) => {
      asked += 1;
      await other.dispatch(CRON, { type: 'UpdateCron', changes: { enabled: false } });
      return start(order);
    });
    assert.deepEqual([fired, asked], [false, 1]);
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronCreated', 'CronUpdated']);
    assert.deepEqual(await typesOf(`thread-${THREAD}`), ['ThreadCreated']);
  }));

test('L3 A4 given a cron, when its thread is deleted or it finds it gone, then its facts and its secret go', () =>
  withCrons(async (given) => {
    const { crons, clock, done, start, typesOf } = given;
    await clock.advance(MINUTE);
    await crons.fire(CRON, start);
    assert.equal(await secretOf(given), 'canary');
    await done({ type: 'DeleteThread' });
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronDeleted']);
    assert.equal(await secretOf(given), undefined);
    const orphan = '01980000-0000-7000-8000-00000000000d';
    await crons.dispatch(orphan, { type: 'CreateCron', cronId: orphan, content: content() });
    await clock.advance(MINUTE);
    assert.equal(await crons.fire(orphan, async () => ({ kind: 'gone' })), false);
    assert.deepEqual(await typesOf(cronStream(orphan)), ['CronDeleted']);
    assert.ok(!given.dump().includes('canary'));
  }));

test("L4 a cron's firing or change with an unknown outcome is an exception", () =>
  withCrons(async ({ another, clock, start, typesOf }) => {
    await clock.advance(MINUTE);
    const doubtful = another((log) => ({
      ...log,
      commit: async () => ({ kind: 'unknown-outcome', cause: 'no space' }),
    }));
    await assert.rejects(doubtful.dispatch(CRON, { type: 'DeleteCron' }), LogUnavailable);
    await assert.rejects(doubtful.dispatch(CRON, { type: 'UpdateCron', changes: {} }), LogUnavailable);
    await assert.rejects(
      doubtful.fire(CRON, async () => ({ kind: 'refused', reason: 'x' })),
      LogUnavailable,
    );
    assert.equal(await another().fire(CRON, start), true);
    assert.deepEqual(await typesOf(cronStream(CRON)), ['CronCreated', 'CronFired']);
  }));

test("R2 replay shows a cron's fired and missed slots in the cron and in its thread", () =>
  withCrons(async ({ crons, clock, start, past, done }) => {
    await clock.advance(MINUTE);
    await crons.fire(CRON, start);
    await clock.advance(MINUTE);
    await crons.fire(CRON, async () => ({ kind: 'refused', reason: '403: no' }));
    await clock.advance(10 * MINUTE + 30_000);
    await crons.fire(CRON, start);
    await done(ask.updateThread({ n: 1 }));
    await past(async (history) => {
      const own = await cronTimelineOf(history, CRON);
      assert.deepEqual(
        own.map(({ type, before, after }) => `${before} ${type} ${after}`),
        [
          'absent CronCreated living',
          'living CronFired living',
          'living CronSlotPassed living',
          'living CronFired living',
        ],
      );
      assert.match(own[0]!.summary, /"\* \* \* \* \*" UTC, next 2026-01-01T00:01/);
      assert.match(own[2]!.summary, /slot 2026-01-01T00:02:00\S+: 403: no$/);
      assert.match(own[3]!.summary, /slot 2026-01-01T00:12:00\S+ and all since 2026-01-01T00:03:00\S+: run /);
      const slots = (await timelineOf(history, THREAD)).filter(({ type }) => type.startsWith('Cron'));
      assert.deepEqual(
        slots.map(({ type }) => type),
        ['CronFired', 'CronFired'],
      );
    });
  }));

test.run();
