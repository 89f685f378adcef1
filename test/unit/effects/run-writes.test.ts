import assert from 'node:assert/strict';
import { createCommitInterval } from '../../../src/effects/commit-interval.ts';
import { openRunWrites, type RunWrite, type RunWrites } from '../../../src/effects/run-writes.ts';
import type { EventLog, Notice } from '../../../src/store/port/log.ts';
import type { ChannelText, CheckpointText } from '../../../src/store/port/payloads.ts';
import { ask, SUCCESS, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/run-writes');

const lease = { runId: 'a', attempt: 1, leaseId: 'lease' };

function open(
  { log, threads, clock }: TestThreads,
  forgetful = false,
  isRead = true,
  commitInterval = createCommitInterval(clock),
): RunWrites {
  const fenced = (): Error => new Error('fenced');
  return openRunWrites({
    patiently: (ask) => ask(),
    log,
    threads,
    threadId: THREAD,
    lease,
    forgetful,
    hasKept: false,
    owesWebhook: false,
    isRead: () => isRead,
    commitInterval,
    clock,
    fenced,
  });
}

const frame = (id: number, data = `"${id}"`): RunWrite => ({
  payload: {
    ...{ kind: 'frames', runId: 'a', threadId: THREAD, first: id },
    frames: [{ event: 'values', data }],
  },
  size: data.length,
});

const checkpoint = (checkpointId: string, more: Partial<CheckpointText> = {}): RunWrite => ({
  command: ask.save('a', checkpointId, 1),
  payload: {
    ...{ kind: 'checkpoint', threadId: THREAD, runId: 'a' },
    checkpoint: {
      ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {}, valueChannels: [] },
      ...{ channelVersions: {}, blobs: [], ...more },
    },
  },
  size: 2,
});

const noticesOf = (log: EventLog): Notice[] => {
  const heard: Notice[] = [];
  log.onCommitted((notice) => heard.push(notice));
  return heard;
};
const framesOf = async (log: EventLog): Promise<string[]> =>
  (await log.payloads.frames('a', -1, 100)).map(({ id, data }) => `${id} ${data}`);

test('S1 frames, checkpoints and the end of one turn of the event loop are one commit, in order', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const heard = noticesOf(lent.log);
    const writes = open(lent);
    await Promise.all([writes.add(frame(0)), writes.add(checkpoint('c1')), writes.add(frame(1))]);
    await writes.add(checkpoint('c2'));
    const done = await writes.close(ask.complete('a'));
    assert.ok(done.ok);
    assert.deepEqual(
      heard.map(({ events, frames }) => [events.map(({ type }) => type), [...frames.keys()]]),
      [[['CheckpointSaved', 'CheckpointSaved', 'RunCompleted'], ['a']]],
    );
    assert.deepEqual(await framesOf(lent.log), ['0 "0"', '1 "1"']);
    assert.equal((await lent.log.views.runs.get('a'))?.head, 'c2');
    await assert.rejects(writes.add(frame(2)), /the attempt is over/i);
  }));

const answer = (text: string, base: string): RunWrite => ({
  payload: { kind: 'resume', runId: 'a', threadId: THREAD, base, data: Buffer.from(text) },
  ...{ size: text.length, waits: 'answer' },
});
const answersOf = async (log: EventLog): Promise<string[]> =>
  (await log.payloads.resume('a')).map((data) => Buffer.from(data).toString());

test('X7 an answer is kept until a root checkpoint ends its step, and not written where that comes within its interval', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const heard = noticesOf(lent.log);
    const writes = open(lent);
    // when: the step ends before the answer is due
    await writes.add(answer('early', 'c0'));
    await lent.clock.advance(29);
    assert.equal(heard.length, 0);
    await writes.add(checkpoint('c1'), true);
    assert.deepEqual(await answersOf(lent.log), []);
    // when: the step goes on
    await writes.add(answer('first', 'c1'));
    await writes.add({ ...answer('asked', 'c1'), waits: 'other' });
    await writes.settled();
    assert.deepEqual(await answersOf(lent.log), ['first', 'asked']);
    // when: tasks of the next step have answers before its checkpoint is written
    await writes.add(answer('next', 'c2'));
    await writes.add(checkpoint('c2'), true);
    assert.deepEqual(await answersOf(lent.log), ['next']);
    assert.ok((await writes.close(ask.complete('a'))).ok);
    assert.deepEqual(await answersOf(lent.log), []);
  }));

const value = (channel: string, version: string): ChannelText => ({ channel, version, data: `"${version}"` });
const writesOn = (ns: string, checkpointId: string): RunWrite => ({
  payload: {
    ...{ kind: 'checkpoint-writes', threadId: THREAD, runId: 'a', ns, checkpointId },
    writes: [{ taskId: 't', idx: 0, channel: 'a', data: '1' }],
  },
  size: 1,
});

test("of a temporary thread's joint checkpoints the newest of each namespace is stored, with all values", () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const writes = open(lent, true);
    await writes.add(checkpoint('c0', { channelVersions: { c: '0' }, blobs: [value('c', '0')] }), true);
    const [first, second] = [value('a', '1'), value('b', '1')];
    void writes.add(
      checkpoint('c1', { channelVersions: { a: '1', b: '1', c: '0' }, blobs: [first, second] }),
    );
    void writes.add(writesOn('', 'c1'));
    void writes.add(checkpoint('s1', { ns: 'sub', channelVersions: { a: '7' }, blobs: [value('a', '7')] }));
    void writes.add(
      checkpoint('c2', { channelVersions: { a: '2', b: '1', c: '0' }, blobs: [value('a', '2')] }),
    );
    void writes.add(writesOn('', 'c2'));
    assert.ok((await writes.close(ask.complete('a'))).ok);
    const found = await lent.log.payloads.checkpoints(THREAD, { ns: '' });
    assert.deepEqual(
      found.map(({ checkpointId }) => checkpointId),
      ['c2', 'c0'],
    );
    const sorted = [...found[0]!.blobs].sort((x, y) => (x.channel < y.channel ? -1 : 1));
    assert.deepEqual(sorted, [value('a', '2'), second, value('c', '0')]);
    assert.equal(found[0]!.writes.length, 1);
    assert.equal((await lent.log.payloads.checkpoint(THREAD, 'sub'))?.checkpointId, 's1');
  }));

test('all joint checkpoints of a graph that reads back its earlier writes are stored', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const writes = open(lent, true);
    const metadata = { counters_since_delta_snapshot: { messages: 1 } };
    for (const id of ['c1', 'c2']) void writes.add(checkpoint(id, { metadata }));
    assert.ok((await writes.close(ask.complete('a'))).ok);
    assert.equal((await lent.log.payloads.checkpoints(THREAD, { ns: '' })).length, 2);
  }));

test('writes of a run without readers wait for each other, for an urgent one and briefly for their end', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const heard = noticesOf(lent.log);
    const writes = open(lent, false, false);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await writes.add(frame(0));
    for (let i = 0; i < 5; i++) await turn();
    await writes.add(writesOn('', 'c0'));
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(heard.length, 0);
    await writes.settled();
    assert.equal(heard.length, 1);
    // Nobody asks: the clock does.
    await writes.add(frame(1));
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(heard.length, 1);
    await lent.clock.advance(10);
    while ((await framesOf(lent.log)).length < 2) await turn();
    assert.deepEqual(await framesOf(lent.log), ['0 "0"', '1 "1"']);
    // The end takes all with it.
    void writes.add(checkpoint('c2'));
    assert.ok((await writes.close(ask.complete('a'))).ok);
    const last = heard.at(-1)!.events.map(({ type }) => type);
    assert.deepEqual(last, ['CheckpointSaved', 'RunCompleted']);
  }));

test('X5 the end of a step asks for a commit at once, and takes with it what lingers', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const heard = noticesOf(lent.log);
    const writes = open(lent, false, false);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await writes.add(frame(0));
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(heard.length, 0);
    await writes.add(checkpoint('c1'));
    while (heard.length === 0) await turn();
    assert.deepEqual(
      heard.map(({ events, frames }) => [events.map(({ type }) => type), [...frames.keys()]]),
      [[['CheckpointSaved'], ['a']]],
    );
    writes.end();
  }));

test('frames of all runs wait for one commit interval, urgent writes no longer than it', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const heard = noticesOf(lent.log);
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    const commitInterval = createCommitInterval(lent.clock);
    const [one, other] = [open(lent, false, true, commitInterval), open(lent, false, true, commitInterval)];
    await one.add(frame(0));
    await turns();
    assert.equal(heard.length, 1, 'after a rest nothing waits');
    await one.add(frame(1));
    await turns();
    await other.add(frame(2));
    await turns();
    assert.equal(heard.length, 1);
    await lent.clock.advance(5);
    await turns();
    assert.equal(heard.length, 2);
    assert.deepEqual(await framesOf(lent.log), ['0 "0"', '1 "1"', '2 "2"']);
    await one.add(frame(3));
    await turns();
    assert.equal(heard.length, 2);
    await other.add(frame(4));
    await one.settled();
    assert.deepEqual((await framesOf(lent.log)).at(-1), '3 "3"');
    await lent.clock.advance(5);
    await other.settled();
    assert.deepEqual((await framesOf(lent.log)).at(-1), '4 "4"');
  }));

test('L1 a durable write can be read as soon as it resolves', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const writes = open(lent);
    await writes.add(checkpoint('c1'), true);
    assert.equal((await lent.log.payloads.checkpoint(THREAD, '', 'c1'))?.checkpointId, 'c1');
    await writes.add(frame(0));
    assert.deepEqual(await framesOf(lent.log), []);
    await writes.settled();
    assert.deepEqual(await framesOf(lent.log), ['0 "0"']);
  }));

test('S3 given more than may wait, when more is produced, then the producer waits for the disk', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const writes = open(lent);
    await writes.add(frame(0, `"${'x'.repeat(300_000)}"`));
    assert.equal((await framesOf(lent.log)).length, 1);
  }));

test('X2 writes under a stale lease are not stored, and each writer is told', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    await lent.done(ask.requeue('a'));
    const writes = open(lent);
    await writes.add(frame(0));
    await assert.rejects(writes.settled(), /fenced/);
    await assert.rejects(writes.add(frame(1)), /fenced/);
    await assert.rejects(writes.close(ask.complete('a')), /fenced/);
    assert.deepEqual(await framesOf(lent.log), []);
    assert.equal((await lent.log.views.runs.get('a'))?.status, 'pending');
  }));

test('X3 an end that meets an unstorable write is rejected, and a second try ends the run', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const writes = open(lent);
    await writes.add(frame(0));
    // The same id again: the table refuses it.
    await writes.add(frame(0));
    await assert.rejects(writes.close(ask.complete('a')), /has a frame 0 already/);
    assert.deepEqual(await framesOf(lent.log), []);
    const done = await writes.close(ask.complete('a', SUCCESS));
    assert.ok(done.ok);
    assert.equal((await lent.log.views.runs.get('a'))?.status, 'success');
  }));

test.run();
