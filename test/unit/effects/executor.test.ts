import assert from 'node:assert/strict';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { watchDue } from '../../../src/effects/due-watch.ts';
import { startExecutor, type Executor } from '../../../src/effects/executor.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import { recoverRuns } from '../../../src/effects/recovery.ts';
import { openInProcessGraphs } from '../../../src/graphs/in-process.ts';
import type { GraphHost, RunEnd } from '../../../src/graphs/port.ts';
import { refuseUnmatched } from '../../../src/graphs/strict-resume.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { toRunning, withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/executor');

/** Runs until it is told to stop. */
const obedient: GraphHost['run'] = (_order, _link, signal) =>
  new Promise<RunEnd>((resolve) =>
    signal.addEventListener('abort', () => resolve({ kind: 'stopped' }), { once: true }),
  );
const deaf: GraphHost['run'] = () => new Promise(() => undefined);

/** An executor that hears of nothing: what it does it found by looking. */
const startDeaf = (lent: TestThreads, run: GraphHost['run']): Executor =>
  start(lent, run, { ...lent.log, onCommitted: () => () => undefined });

function start(
  { threads, clock }: TestThreads,
  run: GraphHost['run'],
  log: EventLog,
  permits = createPermits(1),
): Executor {
  const ids = seededIds(clock, createRandom(3));
  const items = createItems({ log, clock, ids });
  const onFault = (error: unknown): void => assert.fail(String(error));
  const ttl = { refreshOnRead: false, defaultTtl: null };
  const due = watchDue({ log, clock, onFault });
  const executor = startExecutor({
    ...{
      threads,
      clock,
      ids,
      due,
      onFault,
      permits,
      runTimeoutMs: 3_600_000,
      maxCharges: 3,
      stopGraceMs: 5_000,
      isRead: () => true,
      lingerClock: clock,
    },
    log,
    store: createStore({ log, items, clock, ttl, embedder: undefined, onFault }),
    graphs: { graphIds: ['graph'], run, close: async () => undefined },
  });
  return {
    ...executor,
    stop(ms) {
      due.stop();
      return executor.stop(ms);
    },
  };
}

/** Lets everything be done that is due by then. */
async function pass({ clock, log }: TestThreads, ms: number, done: () => Promise<boolean>): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await clock.advance(250);
    await log.readAll(0, 1);
  }
  assert.ok(await done());
}

/** Damages all rows of a table. */
const sealed = (table: string): string => `UPDATE ${table} SET data = X'F5525701${'00'.repeat(60)}'`;

const statusOf = async ({ log }: TestThreads, runId: string) => (await log.views.runs.get(runId))?.status;

test("X3 a run's time limit begins with its graph code, not while its worker starts and loads the graph", () =>
  withThreads(async (lent) => {
    // Given a worker that loads for longer than the limit
    await lent.done([ask.createThread(), ask.createRun('a')]);
    let load: () => void = () => undefined;
    const loaded = new Promise<void>((resolve) => (load = resolve));
    const executor = startDeaf(lent, async (order, link, signal) => {
      await loaded;
      await link.begun();
      return obedient(order, link, signal);
    });
    await pass(lent, 3_700_000, async () => (await statusOf(lent, 'a')) === 'running');
    // When the run begins, then it has its whole limit, and no more
    load();
    await pass(lent, 3_500_000, async () => (await statusOf(lent, 'a')) === 'running');
    await pass(lent, 200_000, async () => (await statusOf(lent, 'a')) === 'timeout');
    await executor.stop(0);
  }));

test('given a stop that nobody heard of, when the executor looks, then the graph is told and the run ends', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a')]);
    const executor = startDeaf(lent, obedient);
    await pass(lent, 2_000, async () => (await statusOf(lent, 'a')) === 'running');
    await lent.done(ask.cancel('a'));
    await pass(lent, 3_000, async () => (await statusOf(lent, 'a')) === 'interrupted');
    await executor.stop(0);
  }));

test('X4 given a graph that ignores a stop, when the server stops, then its run ends and no timer is left', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a')]);
    const executor = startDeaf(lent, deaf);
    await pass(lent, 2_000, async () => (await statusOf(lent, 'a')) === 'running');
    await lent.done(ask.cancel('a'));
    await pass(lent, 2_000, async () => (await statusOf(lent, 'a')) === 'running');
    const stopped = executor.stop(2_000);
    await pass(lent, 1_000, async () => (await statusOf(lent, 'a')) === 'interrupted');
    await stopped;
    assert.deepEqual(lent.clock.pending(), []);
  }));

test('X3 a graph is stopped at once when its run ends with the thread, not when the run ends by itself', () =>
  withThreads(async (lent) => {
    const signals: AbortSignal[] = [];
    let finish: () => void = () => undefined;
    const run: GraphHost['run'] = (_order, _link, signal) =>
      new Promise<RunEnd>((resolve) => {
        signals.push(signal);
        finish = () => resolve({ kind: 'success', next: [], interrupts: {} });
        signal.addEventListener('abort', () => resolve({ kind: 'stopped' }), { once: true });
      });
    await lent.done([ask.createThread(), ask.createRun('a')]);
    const executor = start(lent, run, lent.log);
    await pass(lent, 1_000, async () => signals.length === 1);
    finish();
    await pass(lent, 1_000, async () => (await statusOf(lent, 'a')) === 'success');
    await lent.done(ask.createRun('b'));
    await pass(lent, 1_000, async () => signals.length === 2);
    await lent.done(ask.deleteThread());
    // The clock stands still: nobody has looked.
    await lent.log.readAll(0, 1);
    assert.deepEqual(
      signals.map(({ aborted, reason }) => aborted && reason),
      [false, 'fenced'],
    );
    await executor.stop(0);
  }));

for (const [what, damage, message] of [
  ['answers that do not unpack', 'SELECT 1', /was answered cannot be read, and is not asked again: /],
  ['sealed answers', sealed('resume_calls'), /sealed under key 1, which is not there/],
  ['a sealed secret', sealed('secrets'), /sealed under key 1, which is not there/],
] as const)
  test(`X5 an attempt behind ${what}, which cannot be read, ends its run with that error`, () =>
    withThreads(async (lent) => {
      const of = { runId: 'a', threadId: THREAD };
      const resume = { kind: 'resume', ...of, data: Buffer.from('no part') } as const;
      await lent.done(toRunning('a'), { payloads: [{ kind: 'secret', ...of, data: '{}' }, resume] });
      await lent.done(ask.abandon('a'));
      lent.behind((db) => db.exec(damage));
      const { clock } = lent;
      const graph = { graphId: 'graph', file: import.meta.filename, source: { kind: 'plain' } } as never;
      const graphs = openInProcessGraphs({ graphs: [graph], clock, ids: seededIds(clock, createRandom(4)) });
      const executor = start(lent, graphs.run, lent.log);
      await pass(lent, 2_000, async () => (await statusOf(lent, 'a')) === 'error');
      const outcome = (await lent.log.views.runs.get('a'))?.outcome;
      assert.match(outcome?.kind === 'error' ? outcome.message : '', message);
      await executor.stop(0);
    }));

test('X4 a run that looks due and cannot start does not keep other runs from starting', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    // Another writer of the log gives the run back; this one does not know.
    const other = lent.another();
    await other.dispatch(THREAD, [ask.abandon('a')]);
    const executor = startDeaf(lent, obedient);
    await pass(lent, 3_000, async () => (await statusOf(lent, 'a')) === 'pending');
    await executor.stop(0);
  }));

test('a released permit starts one more run at once, and none when it is taken back', () =>
  withThreads(async (lent) => {
    const permits = createPermits(1);
    const executor = start(lent, obedient, lent.log, permits);
    for (const id of ['a', 'b', 'c']) {
      const made = await lent.threads.dispatch(`thread-${id}`, [
        ask.createThread({}, `thread-${id}`),
        ask.createRun(id),
      ]);
      assert.ok(made.ok);
    }
    const statuses = () => Promise.all(['a', 'b', 'c'].map((id) => statusOf(lent, id)));
    assert.deepEqual(await statuses(), ['running', 'pending', 'pending']);
    const giveBack = permits.release();
    // Less than it takes until somebody looks by himself.
    for (let ms = 0; ms < 100; ms++) await lent.clock.advance(1);
    assert.deepEqual(await statuses(), ['running', 'running', 'pending']);
    giveBack();
    giveBack();
    await pass(lent, 3_000, async () => true);
    assert.deepEqual(await statuses(), ['running', 'running', 'pending']);
    assert.equal(permits.free(1), 0);
    const full = [1, 2, 3].map(() => (permits.release(), permits.isExhausted()));
    assert.deepEqual(full, [false, false, true]);
    // Lent by runs that execute: those alone count.
    assert.deepEqual([permits.free(0), permits.free(2), permits.free(4)], [1, 1, 0]);
    const stopped = executor.stop(2_000);
    await pass(lent, 2_000, async () => (await statusOf(lent, 'b')) === 'pending');
    await stopped;
  }));

test('X5 after a kill between the refusal of a strict answer and its commit the next attempt is refused', () =>
  withThreads(async (lent) => {
    const never: GraphHost['run'] = () => assert.fail('graph code was called');
    const { run } = refuseUnmatched({ graphIds: ['graph'], run: never, close: async () => undefined });
    const interrupts = { task: [{ id: 'a'.repeat(32), value: '?' }] };
    const paused = { kind: 'success', next: ['node'], interrupts } as const;
    await lent.done([...toRunning('asks'), ask.complete('asks', paused)]);
    const standing = async () => {
      const { status, interrupts: open, head, error } = (await lent.log.views.threads.get(THREAD))!;
      return { status, interrupts: open, head, error };
    };
    const stood = await standing();
    const kwargs = {
      ...{ input: null, config: {}, streamMode: ['values'], streamSubgraphs: false },
      ...{ command: { resume: { ['b'.repeat(32)]: 1 } }, strictResume: true },
    };
    // The first attempt ended with its process, whatever it had found.
    await lent.done([ask.createRun('late', 'enqueue', { kwargs }), ask.start('late', 'gone')]);
    await lent.restart();
    assert.equal(await recoverRuns(lent.log, lent.threads, { maxCharges: 3 }), 1);
    const executor = start(lent, run, lent.log);
    await pass(lent, 1_000, async () => (await statusOf(lent, 'late')) === 'error');
    const late = (await lent.log.views.runs.get('late'))!;
    assert.equal(late.attempt, 2);
    assert.deepEqual(await standing(), stood);
    const frames = await lent.log.payloads.frames('late', -1, 10);
    assert.deepEqual(
      frames.map(({ event }) => event),
      ['metadata', 'error'],
    );
    await executor.stop(0);
  }));

test('X5 after a kill between a cancel that keeps messages and its end the streamed part is kept', () =>
  withThreads(async (lent) => {
    // given: the run has streamed two chunks and is cancelled, and its process is gone
    const head = '00000000-0000-7000-8000-000000000001';
    const checkpoint = {
      ...{ ns: '', checkpointId: head, parentId: null, metadata: { step: 0 }, step: 0, source: 'loop' },
      body: JSON.stringify({ v: 4, id: head, channel_versions: { messages: '1' }, versions_seen: {} }),
      ...{ channelVersions: { messages: '1' }, valueChannels: ['messages', 'other'] },
      blobs: [{ channel: 'messages', version: '1', data: '[]' }],
    };
    const frames = ['half ', 'an answer'].map((content) => ({
      event: 'messages',
      data: JSON.stringify([
        { type: 'AIMessageChunk', id: 'run-1', content },
        { langgraph_checkpoint_ns: 'talk:1', langgraph_node: 'talk' },
      ]),
    }));
    const place = { runId: 'run', threadId: THREAD };
    await lent.done(toRunning('run'));
    await lent.done(ask.save('run', head), {
      payloads: [
        { kind: 'checkpoint', ...place, checkpoint },
        { kind: 'frames', ...place, first: 0, frames },
      ],
    });
    await lent.done({ ...ask.cancel('run'), keep: 'messages' } as ThreadCommand);
    await lent.restart();
    // when
    const ids = seededIds(lent.clock, createRandom(5));
    assert.equal(await recoverRuns(lent.log, lent.threads, { maxCharges: 3, ids }), 1);
    // then
    assert.equal(await statusOf(lent, 'run'), 'interrupted');
    const thread = (await lent.log.views.threads.get(THREAD))!;
    const kept = (await lent.log.payloads.checkpoint(THREAD, '', thread.head!))!;
    assert.deepEqual([kept.parentId, kept.metadata['source']], [head, 'update']);
    const { messages } = (await lent.log.payloads.values(THREAD, thread.head!))!.parse() as any;
    assert.deepEqual(
      messages.map(({ id, content, response_metadata: said }: any) => [id, content, said.stopped]),
      [['run-1', 'half an answer', true]],
    );
  }));

test.run();
