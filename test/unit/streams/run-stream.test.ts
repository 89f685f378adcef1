import assert from 'node:assert/strict';
import type { EventLog } from '../../../src/store/port/log.ts';
import { LogAway } from '../../../src/store/port/log-failures.ts';
import type { StoredFrame } from '../../../src/store/port/payloads.ts';
import { createHub } from '../../../src/streams/hub.ts';
import { createRunStreams } from '../../../src/streams/run-stream.ts';
import { ask, THREAD } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withThreads } from '../actors/with-threads.ts';

const test = suite('streams/run-stream');

interface Reading {
  readonly log: EventLog;
  readonly clock: ManualClock;
  /** How often the log was asked for frames. */
  readonly asked: () => number;
  put(...texts: string[]): Promise<void>;
  end(): Promise<void>;
  /** A reader of the run, and whether it is known as one. */
  read(after?: number, signal?: AbortSignal): AsyncGenerator<StoredFrame[]>;
  isRead(): boolean;
  /** The reader that follows the run from before its creation, until `leave`. */
  follow(signal?: AbortSignal): AsyncGenerator<StoredFrame[]>;
  leave(): void;
  /** Waits for the end since before the run's creation. */
  result(): Promise<unknown>;
  /** Whether the log does not answer. */
  away(is: boolean): void;
  /** Nobody hears of what is committed meanwhile. */
  lose(commit: () => Promise<void>): Promise<void>;
}

const withReading = (use: (given: Reading) => Promise<void>): Promise<void> =>
  withThreads(async ({ log: real, clock, done }) => {
    let asked = 0;
    let first = 0;
    let isAway = false;
    const count = (): void => {
      asked += 1;
      if (isAway) throw new LogAway('as the test says');
    };
    const frames: EventLog['payloads']['frames'] = async (...args) => {
      count();
      return real.payloads.frames(...args);
    };
    let deaf = false;
    const onCommitted: EventLog['onCommitted'] = (listener) =>
      real.onCommitted((notice) => {
        if (!deaf) listener(notice);
      });
    const end: EventLog['views']['runs']['end'] = async (runId) => {
      count();
      return real.views.runs.end(runId);
    };
    const views = { ...real.views, runs: { ...real.views.runs, end } };
    const log = { ...real, onCommitted, views, payloads: { ...real.payloads, frames } };
    const hub = createHub(log);
    const streams = createRunStreams(log, hub, clock);
    const run = { runId: 'a', threadId: THREAD };
    const { signal } = new AbortController();
    const followed = streams.follow(run);
    const followedEnd = streams.followEnd(run);
    await done([ask.createThread(), ask.createRun('a'), ask.start('a')]);
    try {
      await use({
        ...{ log, clock },
        asked: () => asked,
        away: (is) => (isAway = is),
        async put(...texts) {
          const shown = texts.map((data) => ({ event: 'custom', data }));
          const payload = { kind: 'frames', runId: 'a', threadId: THREAD, first, frames: shown } as const;
          first += texts.length;
          await log.commit(batch([], { payloads: [payload] }));
        },
        end: async () => void (await done(ask.complete('a'))),
        read: (after = -1, signal = new AbortController().signal) => streams.read(run, after, signal),
        follow: (signal = new AbortController().signal) => streams.read(run, -1, signal, followed),
        result: async () => streams.result(await streams.ended(run, signal, followedEnd)),
        async lose(commit) {
          deaf = true;
          await commit();
          // Notices come right after the commit's promise has settled.
          await new Promise((resolve) => setImmediate(resolve));
          deaf = false;
        },
        isRead: () => hub.isRead('a'),
        leave: followed.close,
      });
    } finally {
      hub.close();
    }
  });

const textsOf = ({ value }: IteratorResult<StoredFrame[], unknown>): string[] =>
  (value as StoredFrame[]).map(({ data }) => data);

test('S2 a reader that has caught up gets committed frames without reading the log', () =>
  withReading(async ({ log, asked, put, end, read }) => {
    await put('old');
    const reading = read();
    assert.deepEqual(textsOf(await reading.next()), ['old']);
    const seen: StoredFrame[] = [];
    const next = reading.next();
    await put('1', '2');
    seen.push(...(await next).value!);
    const before = asked();
    for (const text of ['3', '4', '5']) {
      const more = reading.next();
      await put(text);
      seen.push(...(await more).value!);
    }
    assert.equal(asked(), before);
    assert.deepEqual(seen, await log.payloads.frames('a', 0, 10));
    await end();
    assert.equal((await reading.next()).done, true);
  }));

test('S2 S3 a reader that pauses while much is committed holds one page and gets all in order', () =>
  withReading(async ({ put, end, read, asked }) => {
    await put('0');
    const reading = read();
    await reading.next();
    const next = reading.next();
    await put('1');
    assert.deepEqual(textsOf(await next), ['1']);
    const long = 'x'.repeat(30_000);
    for (let i = 2; i < 8; i++) await put(`${i} ${long}`);
    const before = asked();
    const seen: number[] = [];
    while (seen.length < 6) {
      const { value: page } = (await reading.next()) as { value: StoredFrame[] };
      assert.ok(page.reduce((sum, { data }) => sum + data.length, 0) < 100_000);
      seen.push(...page.map(({ id }) => id));
    }
    assert.deepEqual(seen, [2, 3, 4, 5, 6, 7]);
    assert.ok(asked() > before);
    await end();
    assert.equal((await reading.next()).done, true);
  }));

test("S2 a reader that resumes by its last frame's id gets each later frame once", () =>
  withReading(async ({ put, end, read }) => {
    await put('0', '1', '2', '3');
    const reading = read(1);
    assert.deepEqual(textsOf(await reading.next()), ['2', '3']);
    // Told before the log was read, and read there too.
    const next = reading.next();
    await Promise.all([put('4'), put('5')]);
    const seen = textsOf(await next);
    await put('6');
    await end();
    for await (const page of reading) seen.push(...page.map(({ data }) => data));
    assert.deepEqual(seen, ['4', '5', '6']);
  }));

test('S2 given a notice that is lost, when a later one comes, then the reader gets what was in both', () =>
  withReading(async ({ put, read, lose }) => {
    await put('0');
    const reading = read();
    await reading.next();
    const next = reading.next();
    await put('1');
    await next;
    const after = reading.next();
    await lose(() => put('2'));
    await put('3');
    const seen = textsOf(await after);
    if (seen.length < 2) seen.push(...textsOf(await reading.next()));
    assert.deepEqual(seen, ['2', '3']);
  }));

test('S2 a reader gets the frames of a lost last notice after a while', () =>
  withReading(async ({ clock, put, read, lose }) => {
    await put('0');
    const reading = read();
    await reading.next();
    const next = reading.next();
    await lose(() => put('1'));
    await clock.advance(10_000);
    assert.deepEqual(textsOf(await next), ['1']);
  }));

test('S2 readers of frames and of the end go on when a log that was away answers again', () =>
  withReading(async ({ clock, put, end, read, result, lose, away }) => {
    await put('0');
    const reading = read();
    await reading.next();
    const [next, waiting] = [reading.next(), result()];
    await lose(async () => {
      await put('1');
      await end();
    });
    away(true);
    await clock.advance(10_000);
    await clock.advance(1_000);
    away(false);
    await clock.advance(1_000);
    assert.deepEqual(textsOf(await next), ['1']);
    assert.equal((await reading.next()).done, true);
    assert.deepEqual(await waiting, {});
  }));

test('S2 a reader that follows a run from before its creation gets all of it without reading the log', () =>
  withReading(async ({ log, asked, put, end, follow, result }) => {
    await put('0', '1');
    const reading = follow();
    const waiting = result();
    const seen = [...(await reading.next()).value!] as StoredFrame[];
    const next = reading.next();
    await put('2');
    seen.push(...(await next).value!);
    await put('3');
    await end();
    for await (const page of reading) seen.push(...page);
    assert.deepEqual(await waiting, {});
    assert.equal(asked(), 0);
    assert.deepEqual(seen, await log.payloads.frames('a', -1, 10));
  }));

test('S2 given lost notices, a reader that follows a run gets its frames and its end after a while', () =>
  withReading(async ({ clock, put, end, lose, follow, result }) => {
    const reading = follow();
    const next = reading.next();
    const waiting = result();
    await lose(async () => {
      await put('0');
      await end();
    });
    await clock.advance(10_000);
    assert.deepEqual(textsOf(await next), ['0']);
    assert.equal((await reading.next()).done, true);
    assert.deepEqual(await waiting, {});
  }));

test('S2 given lost frames, a reader that hears of the end of its run has all of them', () =>
  withReading(async ({ log, put, end, lose, follow }) => {
    await put('0');
    const reading = follow();
    const seen = [...(await reading.next()).value!] as StoredFrame[];
    await lose(() => put('1', '2'));
    await end();
    for await (const page of reading) seen.push(...page);
    assert.deepEqual(seen, await log.payloads.frames('a', -1, 10));
  }));

test('a reader that is gone before it has begun to follow a run is no reader of it', () =>
  withReading(async ({ follow, isRead }) => {
    const leaving = new AbortController();
    assert.ok(isRead());
    follow(leaving.signal);
    leaving.abort();
    assert.equal(isRead(), false);
  }));

test('a reader that leaves between two pages or while it waits causes no further reads', () =>
  withReading(async ({ clock, put, read, isRead, leave }) => {
    leave();
    const timers = clock.pending();
    const leaving = new AbortController();
    await put('0');
    const between = read(-1, leaving.signal);
    await between.next();
    const waiting = read(0, leaving.signal);
    const next = waiting.next();
    assert.ok(isRead());
    await clock.advance(0);
    leaving.abort();
    assert.equal((await next).done, true);
    assert.equal(isRead(), false);
    assert.deepEqual(clock.pending(), timers);
  }));

test.run();
