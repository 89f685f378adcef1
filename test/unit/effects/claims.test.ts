/** Which queued run a claim starts, and of which thread. */
import assert from 'node:assert/strict';
import { openClaims } from '../../../src/effects/claims.ts';
import { watchDue } from '../../../src/effects/due-watch.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { ask } from '../../support/given.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/claims');

interface Started {
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly leaseId: string;
}

/** Lends what dispatches to a thread, and what claims as many runs as there are permits. */
function withClaims(
  use: (lent: {
    readonly given: TestThreads;
    readonly tell: (threadId: string, ...commands: ThreadCommand[]) => Promise<void>;
    /** The runs that a claim with so many permits starts, in order. */
    readonly claim: (permits?: number) => Promise<Started[]>;
  }) => Promise<void>,
): Promise<void> {
  return withThreads(async (given) => {
    const { log, threads, clock } = given;
    const ids = seededIds(clock, createRandom(2));
    return use({
      given,
      async tell(threadId, ...commands) {
        const done = await threads.dispatch(threadId, commands);
        assert.ok(done.ok, JSON.stringify(done));
      },
      async claim(permits = 10) {
        const started: Started[] = [];
        const running = new Map<string, unknown>();
        const onFault = (error: unknown): void => assert.fail(String(error));
        const due = watchDue({ log, clock, onFault });
        const claims = openClaims({
          ...{ log, threads, clock, ids, permits: createPermits(permits), running, due, onFault },
          begin({ runId, threadId }, { lease: { attempt, leaseId } }) {
            running.set(runId, undefined);
            started.push({ runId, threadId, attempt, leaseId });
          },
        });
        claims.pump();
        await claims.settled();
        claims.end();
        due.stop();
        return started;
      },
    });
  });
}

const idsOf = (started: readonly Started[]): string[] => started.map(({ runId }) => runId);
const end = ({ runId, attempt, leaseId }: Started) => ask.complete(runId, undefined, attempt, leaseId);
const requeue = ({ runId, attempt, leaseId }: Started) => ask.requeue(runId, attempt, leaseId);

test('X1 runs of one moment on one thread are claimed in the order of acceptance', () =>
  withClaims(async ({ tell, claim, given }) => {
    const ids = ['m', 'z', 'a', 'q', 'b'];
    await tell('t', ask.createThread({}, 't'), ...ids.map((id) => ask.createRun(id)));
    for (const id of ids) {
      const [run, ...others] = await claim();
      assert.deepEqual([run?.runId, others], [id, []]);
      assert.deepEqual(await given.log.views.runs.busyThreads(), ['t']);
      assert.deepEqual(await claim(), []);
      await tell('t', end(run!));
    }
  }));

test('X5 a begun run that waits for its next attempt comes first, though the clock was set back', () =>
  withClaims(async ({ tell, claim, given: { clock } }) => {
    await tell('u', ask.createThread({}, 'u'), ask.createRun('other'));
    await clock.advance(1_000);
    await tell('t', ask.createThread({}, 't'), ask.createRun('begun', 'enqueue', { notBefore: clock.now() }));
    const begun = (await claim()).find(({ runId }) => runId === 'begun')!;
    await tell('t', ask.createRun('next'), requeue(begun));
    clock.jump(-7 * 24 * 3_600_000);
    const [again] = await claim(1);
    assert.deepEqual([again?.runId, again?.attempt], ['begun', 2]);
    await tell('t', end(again!));
    assert.deepEqual(idsOf(await claim()), ['next']);
  }));

test('X1 given a delayed run, when it is not due, then those behind it go first and its turn comes by time', () =>
  withClaims(async ({ tell, claim, given: { clock, log } }) => {
    const start = clock.now();
    const late = (runId: string, ms: number) => ask.createRun(runId, 'enqueue', { notBefore: start + ms });
    await tell('t', ask.createThread({}, 't'), late('late', 5_000), ask.createRun('soon'));
    await tell('u', ask.createThread({}, 'u'), late('later', 9_000));
    const [soon, ...others] = await claim();
    assert.deepEqual([soon?.runId, others], ['soon', []]);
    assert.equal(await log.views.due.next(start), start + 9_000);
    await tell('t', end(soon!));
    assert.equal(await log.views.due.next(start), start + 5_000);
    await clock.advance(4_999);
    assert.deepEqual(await claim(), []);
    await clock.advance(1);
    assert.deepEqual(idsOf(await claim()), ['late']);
    assert.equal(await log.views.due.next(start + 9_000), undefined);
  }));

test('X1 claims take the thread that is due the longest, and of it the oldest due run, begun runs first', () =>
  withClaims(async ({ tell, claim, given: { clock } }) => {
    const random = createRandom(seedFromEnv());
    interface Model {
      readonly id: string;
      readonly thread: string;
      readonly created: number;
      readonly due: number;
      isBegun: boolean;
    }
    const queued: Model[] = [];
    const running: (Started & { readonly model: Model })[] = [];
    /** Since when the thread waits with the same earliest start. */
    const since = new Map<string, number>();
    const earliest = (thread: string): number => {
      const own = queued.filter((run) => run.thread === thread);
      return own.some(({ isBegun }) => isBegun) ? 0 : Math.min(...own.map(({ due }) => Math.max(due, 1)));
    };
    const moved = async (thread: string, change: () => Promise<void>): Promise<void> => {
      const isRunning = () => running.some(({ threadId }) => threadId === thread);
      const before = isRunning() ? undefined : earliest(thread);
      await change();
      if (!isRunning() && earliest(thread) !== before) since.set(thread, clock.now());
    };
    const rank = (thread: string): number => {
      const start = earliest(thread);
      return start === 0 ? 0 : Math.max(start, since.get(thread)!);
    };
    for (const thread of ['t', 'u', 'v']) await tell(thread, ask.createThread({}, thread));
    let claims = 0;
    for (let step = 0; step < 150; step++) {
      const thread = random.pick(['t', 'u', 'v']);
      const active = running.findIndex(({ threadId }) => threadId === thread);
      if (active >= 0 && random.chance(0.5))
        await moved(thread, async () => {
          const [run] = running.splice(active, 1);
          const isAgain = random.chance(0.3);
          if (isAgain) queued.push({ ...run!.model, isBegun: true });
          await tell(thread, isAgain ? requeue(run!) : end(run!));
        });
      else if (random.chance(0.6))
        await moved(thread, async () => {
          const due = random.chance(0.3) ? clock.now() + random.int(1, 50) : 0;
          const id = `${random.int(0, 9)}-${step}`;
          queued.push({ id, thread, created: Math.max(clock.now(), due), due, isBegun: false });
          await tell(thread, ask.createRun(id, 'enqueue', { notBefore: due }));
        });
      else await clock.advance(random.int(1, 20));

      if (random.chance(0.5)) continue;
      const now = clock.now();
      const expected = ['t', 'u', 'v']
        .filter((name) => !running.some(({ threadId }) => threadId === name))
        .flatMap((name) =>
          queued
            .filter((run) => run.thread === name && run.due <= now)
            .sort((a, b) => Number(b.isBegun) - Number(a.isBegun) || a.created - b.created)
            .slice(0, 1),
        )
        .sort((a, b) => rank(a.thread) - rank(b.thread) || (a.thread < b.thread ? -1 : 1));
      const permits = random.int(1, 3);
      const found = await claim(permits);
      assert.deepEqual(
        idsOf(found).sort(),
        expected
          .slice(0, permits)
          .map(({ id }) => id)
          .sort(),
      );
      claims += found.length;
      for (const run of found) {
        const [model] = queued.splice(
          queued.findIndex(({ id }) => id === run.runId),
          1,
        );
        running.push({ ...run, model: model! });
      }
    }
    assert.ok(claims > 20, `only ${claims} claims`);
  }));

test.run();
