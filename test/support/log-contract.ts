/** What every event log promises, whatever it is made of. Its tests are run once for each log. */
import assert from 'node:assert/strict';
import type { DomainEvent, Recorded } from '../../src/store/port/events.ts';
import type { EventLog, Notice } from '../../src/store/port/log.ts';
import { append, batch, committed, endGrant, grant, textsOf } from './batches.ts';
import { suite } from './suite.ts';

interface OpenLog {
  readonly log: EventLog;
  /** What listeners threw. */
  readonly faults: readonly unknown[];
}

export type LendLog = (use: (given: OpenLog) => Promise<void>) => Promise<void>;

const placesOf = (events: readonly Recorded[]): string[] =>
  events.map(({ meta }) => `${meta.position} ${meta.stream}#${meta.version}`);

/** `prepare` adds what all tests share. */
export function logContract(
  name: string,
  lend: LendLog,
  prepare: (test: ReturnType<typeof suite>) => void = () => undefined,
): void {
  const test = suite(`${name} keeps the contract of logs`);
  prepare(test);

  test('L2 given a new stream, when facts are appended, then versions are dense from 1 and positions grow', () =>
    lend(async ({ log }) => {
      const first = committed(await log.commit(batch([append('s', 0, 'a', 'b'), append('o', 0, 'x')])));
      const second = committed(await log.commit(batch([append('s', 2, 'c')])));
      assert.deepEqual(placesOf([...first, ...second]), ['1 s#1', '2 s#2', '3 o#1', '4 s#3']);
      const read = await log.readStream('s', 1, 10);
      assert.deepEqual(textsOf(read), ['a', 'b', 'c']);
      assert.deepEqual(await log.readAll(0, 10), [...first, ...second]);
      assert.ok(read.every(({ meta }) => meta.commandId.length === 36 && Number.isInteger(meta.at)));
    }));

  test('L2 given one version, when 100 writers race for it, then one wins and 99 hear the version that is', () =>
    lend(async ({ log }) => {
      await log.commit(batch([append('s', 0, 'a', 'b')]));
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, i) => log.commit(batch([append('s', 2, `writer ${i}`)]))),
      );
      assert.equal(results.filter(({ kind }) => kind === 'committed').length, 1);
      const conflicts = results.filter((result) => result.kind === 'version-conflict');
      assert.equal(conflicts.length, 99);
      for (const conflict of conflicts) assert.deepEqual(conflict, { kind: 'version-conflict', stream: 's' });
      assert.equal((await log.readStream('s', 1, 1000)).length, 3);
    }));

  test("L2 a commit that names another version than the stream's last is told the actual one", () =>
    lend(async ({ log }) => {
      const conflict = { kind: 'version-conflict', stream: 's' };
      assert.deepEqual(await log.commit(batch([append('s', 1, 'a')])), conflict);
      await log.commit(batch([append('s', 0, 'a', 'b')]));
      for (const expected of [0, 1, 3])
        assert.deepEqual(await log.commit(batch([append('s', expected, 'c')])), conflict);
    }));

  test('L1 given a batch over several streams, when one of them has moved, then nothing of it is written', () =>
    lend(async ({ log }) => {
      await log.commit(batch([append('b', 0, 'first')]));
      const result = await log.commit(
        batch([{ ...append('a', 0, 'x'), snapshot: { x: 1 } }, append('b', 0, 'y'), append('c', 0, 'z')]),
      );
      assert.deepEqual(result, { kind: 'version-conflict', stream: 'b' });
      assert.deepEqual(textsOf(await log.readAll(0, 100)), ['first']);
      assert.equal(await log.loadSnapshot('a'), undefined);
    }));

  test('L1 given a batch with several facts of a known stream and of new ones, then all are written', () =>
    lend(async ({ log }) => {
      for (const round of [0, 1, 2]) {
        const known = append('known', round * 2, 'a', 'b');
        const begun = ['x', 'y'].map((name) => append(`${name}${round}`, 0, 'c', 'd', 'e'));
        committed(await log.commit(batch([known, ...begun])));
        assert.equal(await log.streamVersion(`y${round}`), 3);
      }
      assert.equal(await log.streamVersion('known'), 6);
    }));

  test('L2 given commits of one tick, when one conflicts, then the others stand, each on the one before', () =>
    lend(async ({ log }) => {
      const kinds = await Promise.all(
        [append('s', 0, 'a'), append('s', 0, 'lost'), append('s', 1, 'b'), append('o', 0, 'c')].map(
          async (one) => (await log.commit(batch([one]))).kind,
        ),
      );
      assert.deepEqual(kinds, ['committed', 'version-conflict', 'committed', 'committed']);
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['a', 'b', 'c']);
    }));

  test('L4 a repeated command id gets the first receipt and writes nothing', () =>
    lend(async ({ log }) => {
      const once = batch([append('s', 0, 'a', 'b')], { commandId: 'same', repeatable: true });
      const [first, second] = await Promise.all([log.commit(once), log.commit(once)]);
      await log.commit(batch([append('s', 2, 'later')]));
      const third = await log.commit({ ...once, appends: [append('other', 0, 'c')] });
      assert.ok(first.kind === 'committed' && second.kind === 'duplicate' && third.kind === 'duplicate');
      assert.deepEqual(second.receipt, first.receipt);
      assert.deepEqual(third.receipt, first.receipt);
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['a', 'b', 'later']);
    }));

  test('L4 given a batch that nobody can repeat, when its id comes again, then it is a batch like any other', () =>
    lend(async ({ log }) => {
      await log.commit(batch([append('s', 0, 'a')], { commandId: 'same' }));
      committed(await log.commit(batch([append('s', 1, 'b')], { commandId: 'same', repeatable: true })));
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['a', 'b']);
    }));

  test('L4 given a command that was refused, when it is repeated on the right version, then it is done', () =>
    lend(async ({ log }) => {
      const again = (expected: number) =>
        batch([append('s', expected, 'a')], { commandId: 'retried', repeatable: true });
      assert.equal((await log.commit(again(5))).kind, 'version-conflict');
      assert.equal((await log.commit(again(0))).kind, 'committed');
      assert.equal((await log.commit(again(0))).kind, 'duplicate');
    }));

  test('X2 of batches with a current, an older or a never granted lease only the first is written', () =>
    lend(async ({ log }) => {
      const lease = { runId: 'r', attempt: 1, leaseId: 'one' };
      const write = async (from: number, carried = lease): Promise<string> =>
        (await log.commit(batch([append('s', from, 'x')], { lease: carried }))).kind;
      assert.equal(await write(0), 'fenced-out');
      await grant(log, lease);
      assert.equal(await write(0), 'committed');
      assert.equal(await write(1, { ...lease, attempt: 2 }), 'fenced-out');
      assert.equal(await write(1, { ...lease, leaseId: 'two' }), 'fenced-out');
      assert.equal(await write(1, { ...lease, runId: 'other' }), 'fenced-out');
      await grant(log, { runId: 'r', attempt: 2, leaseId: 'two' });
      assert.equal(await write(1), 'fenced-out');
      assert.equal(await write(1, { ...lease, attempt: 2, leaseId: 'two' }), 'committed');
      await endGrant(log, { runId: 'r', attempt: 2 });
      assert.equal(await write(2, { ...lease, attempt: 2, leaseId: 'two' }), 'fenced-out');
      assert.equal((await log.readStream('s', 1, 10)).length, 2);
    }));

  test('L1 given a listener, when a commit is done, then its promise settles first and the notice comes once', () =>
    lend(async ({ log }) => {
      const order: unknown[] = [];
      const stop = log.onCommitted(({ events }: Notice) => order.push(textsOf(events)));
      await Promise.all([
        log.commit(batch([append('a', 0, 'one')])).then(() => order.push('first settled')),
        log.commit(batch([append('b', 0, 'two')])).then(() => order.push('second settled')),
        log.commit(batch([append('b', 7, 'no')])).then(() => order.push('refused')),
      ]);
      await log.commit(batch([append('c', 9, 'no')]));
      assert.deepEqual(order, ['first settled', 'second settled', 'refused', ['one', 'two']]);
      stop();
      await log.commit(batch([append('c', 0, 'unheard')]));
      assert.equal(order.length, 4);
    }));

  test('a notice has the frames of a commit by run, as they were stored, also without events', () =>
    lend(async ({ log }) => {
      const notices: Notice[] = [];
      log.onCommitted((notice) => notices.push(notice));
      const frames = (runId: string, first: number) =>
        ({ kind: 'frames', runId, threadId: 't', first, frames: [{ event: 'values', data: '{}' }] }) as const;
      const payloads = [frames('r', 0), frames('q', 0), frames('r', 1)];
      const done = await log.commit(batch([], { payloads }));
      await log.commit(batch([]));
      const at = done.kind === 'committed' ? done.receipt.at : NaN;
      const shown = (id: number) => ({ id, event: 'values', data: '{}', at });
      const told = { r: [shown(0), shown(1)], q: [shown(0)] };
      assert.deepEqual(notices, [
        { count: 1, events: [], frames: new Map(Object.entries(told)), untracked: new Map() },
      ]);
    }));

  test('given a listener that throws, when a commit is done, then the others hear of it and writing goes on', () =>
    lend(async ({ log, faults }) => {
      const heard: unknown[] = [];
      const fault = new Error('a bad listener');
      log.onCommitted(() => {
        throw fault;
      });
      log.onCommitted(({ events }) => heard.push(...textsOf(events)));
      await log.commit(batch([append('s', 0, 'a')]));
      committed(await log.commit(batch([append('s', 1, 'b')])));
      await log.commit(batch([]));
      assert.deepEqual(heard, ['a', 'b']);
      assert.deepEqual(faults, [fault, fault]);
    }));

  test('pages of events are complete, in order and without overlap', () =>
    lend(async ({ log }) => {
      const texts = Array.from({ length: 25 }, (_, i) => `${i}`);
      for (let i = 0; i < 25; i += 5) {
        await log.commit(batch([append('s', i, ...texts.slice(i, i + 5))]));
        await log.commit(batch([append('noise', i / 5, 'noise')]));
      }
      const paged: Recorded[] = [];
      for (let page = await log.readStream('s', 1, 7); page.length > 0;) {
        assert.ok(page.length <= 7);
        paged.push(...page);
        page = await log.readStream('s', page.at(-1)!.meta.version + 1, 7);
      }
      assert.deepEqual(textsOf(paged), texts);
      const all: Recorded[] = [];
      for (
        let page = await log.readAll(0, 4);
        page.length > 0;
        page = await log.readAll(all.at(-1)!.meta.position, 4)
      )
        all.push(...page);
      assert.equal(all.length, 30);
      assert.deepEqual(
        all.map(({ meta }) => meta.position),
        [...all.map(({ meta }) => meta.position)].sort((a, b) => a - b),
      );
      assert.deepEqual(await log.readStream('s', 26, 7), []);
      assert.deepEqual(await log.readStream('nobody', 1, 7), []);
    }));

  test('given snapshots, when a stream moves on, then the newest is kept with its version', () =>
    lend(async ({ log }) => {
      assert.equal(await log.loadSnapshot('s'), undefined);
      await log.commit(batch([{ ...append('s', 0, 'a', 'b'), snapshot: { n: 2 } }]));
      await log.commit(batch([{ ...append('s', 2, 'c'), snapshot: { n: 3, list: [null, '😀'] } }]));
      assert.deepEqual(await log.loadSnapshot('s'), { version: 3, state: { n: 3, list: [null, '😀'] } });
    }));

  test('L3 of a purged thread only the tombstone stays, and later versions follow it', () =>
    lend(async ({ log }) => {
      await log.commit(batch([append('thread-t', 0, 'secret', 'more'), append('s', 0, 'kept')]));
      const tombstone: DomainEvent = { type: 'ThreadDeleted', data: { threadId: 't' } };
      await log.commit(
        batch([{ stream: 'thread-t', expected: 2, events: [tombstone] }], {
          payloads: [{ kind: 'purge-thread', threadId: 't', stream: 'thread-t', tombstone: 3 }],
        }),
      );
      assert.deepEqual(placesOf(await log.readStream('thread-t', 1, 10)), ['4 thread-t#3']);
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['kept', 'ThreadDeleted']);
      const stale = await log.commit(batch([append('thread-t', 0, 'again')]));
      assert.deepEqual(stale, { kind: 'version-conflict', stream: 'thread-t' });
      assert.deepEqual(placesOf(committed(await log.commit(batch([append('s', 1, 'next')])))), ['5 s#2']);
    }));

  test('L3 a purged stream without payloads loses what precedes its tombstone and continues', () =>
    lend(async ({ log }) => {
      await log.commit(batch([append('assistant-a', 0, 'secret'), append('assistant-b', 0, 'kept')]));
      const tombstone: DomainEvent = { type: 'AssistantDeleted', data: { assistantId: 'a' } };
      await log.commit(
        batch([{ stream: 'assistant-a', expected: 1, events: [tombstone] }], {
          payloads: [{ kind: 'purge-stream', stream: 'assistant-a', tombstone: 2 }],
        }),
      );
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['kept', 'AssistantDeleted']);
      committed(await log.commit(batch([append('assistant-a', 2, 'again')])));
      assert.deepEqual(textsOf(await log.readStream('assistant-a', 1, 10)), ['AssistantDeleted', 'again']);
    }));

  test("commits under way at the log's close are done; later ones have an unknown outcome", () =>
    lend(async ({ log }) => {
      const under = [log.commit(batch([append('s', 0, 'a')])), log.commit(batch([append('s', 1, 'b')]))];
      await log.close();
      assert.deepEqual(
        (await Promise.all(under)).map(({ kind }) => kind),
        ['committed', 'committed'],
      );
      assert.deepEqual(await log.commit(batch([append('s', 2, 'c')])), {
        kind: 'unknown-outcome',
        cause: 'the log is closed',
      });
    }));

  test('L4 at the close under constant writes every commit gets a result and no fault is reported', () =>
    lend(async ({ log }) => {
      let poisoned = 0;
      log.onPoisoned(() => (poisoned += 1));
      const ends: string[] = [];
      const write = async (stream: string): Promise<void> => {
        for (let version = 0; ; version++) {
          const { kind } = await log.commit(batch([append(stream, version, 'x')]));
          if (kind === 'committed') continue;
          ends.push(kind);
          return;
        }
      };
      const writers = ['a', 'b', 'c'].map(write);
      await log.commit(batch([append('d', 0, 'x')]));
      await log.close();
      await Promise.all(writers);
      assert.deepEqual(ends, ['unknown-outcome', 'unknown-outcome', 'unknown-outcome']);
      assert.equal(poisoned, 0);
    }));

  test.run();
}
