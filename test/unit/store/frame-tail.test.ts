/** Frames of many runs at once: where they lie is nobody's business who reads them. */
import assert from 'node:assert/strict';
import type { Batch, CommitResult } from '../../../src/store/port/log.ts';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch } from '../../support/batches.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, newest frames');

const lend = (use: (given: TestLog) => Promise<void>): Promise<void> =>
  withLog(use, { projection: fakeProjection() });

const frames = (runId: string, first: number, ...texts: string[]): PayloadWrite => ({
  ...{ kind: 'frames', runId, threadId: `of ${runId}`, first },
  frames: texts.map((data) => ({ event: 'custom', data })),
});

async function textsOf({ log }: Pick<TestLog, 'log'>, runId: string): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const page = await log.payloads.frames(runId, texts.length - 1, 100);
    if (page.length === 0) return texts;
    assert.deepEqual(
      page.map(({ id }) => id),
      page.map((_, index) => texts.length + index),
    );
    texts.push(...page.map(({ data }) => data));
  }
}

const count = ({ behind }: TestLog, table: string): number =>
  behind((db) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number);

test('S1 S2 runs that write at once, end or are forgotten keep their frames, also after a restart', () =>
  lend(async (given) => {
    const random = createRandom(seedFromEnv());
    const written = new Map<string, string[]>();
    const open = new Set<string>();
    const gone: string[] = [];
    let { log } = given;
    let version = 0;
    for (let step = 0; step < 1500; step++) {
      while (open.size < 12) open.add(`r${written.size + gone.length}`) && open.forEach(begin);
      const batches: Batch[] = [];
      for (let i = random.int(1, 4); i > 0; i--) {
        const runId = random.pick([...open]);
        const own = written.get(runId)!;
        if (random.chance(0.05)) {
          // Refused after it was written.
          const taken = { kind: 'frames', runId: 'taken', threadId: 't', first: 0, frames: [] } as const;
          const again = frames(runId, Math.max(0, own.length - 1), 'no', 'no');
          batches.push(batch([], { payloads: [taken, frames('undone', 0, 'x'), again] }));
          if (own.length > 0) continue;
          batches.pop();
        }
        const texts = Array.from({ length: random.pick([1, 1, 1, 2, 9, 40]) }, (_, n) =>
          random.chance(0.02) ? `"${'long '.repeat(300)}"` : `${runId} ${own.length + n}`,
        );
        const ends = random.chance(0.02);
        const lease: PayloadWrite[] = ends ? [{ kind: 'end-lease', runId }] : [];
        const payloads = [frames(runId, own.length, ...texts), ...lease];
        batches.push(batch(random.chance(0.3) ? [append('s', version++, 'fact')] : [], { payloads }));
        own.push(...texts);
        if (ends) open.delete(runId);
      }
      const results = await Promise.allSettled(batches.map((one) => log.commit(one)));
      for (const [index, { payloads = [] }] of batches.entries())
        assert.equal(results[index]!.status, payloads.length === 3 ? 'rejected' : 'fulfilled');
      if (random.chance(0.02) && written.size > 0) {
        const runId = random.pick([...written.keys()]);
        const forget = { kind: 'forget-frames', runId, threadId: `of ${runId}` } as const;
        await log.commit(batch([], { payloads: [forget] }));
        written.delete(runId);
        open.delete(runId);
        gone.push(runId);
      }
      if (random.chance(0.01)) log = await given.reopen();
      if (step % 50 !== 0) continue;
      for (const [runId, texts] of written) {
        assert.deepEqual(await textsOf({ log }, runId), texts, runId);
        assert.equal(await log.payloads.lastFrame(runId), texts.length - 1);
      }
      for (const runId of [...gone, 'undone']) assert.equal(await log.payloads.lastFrame(runId), -1, runId);
    }
    // As those see them who did not write them.
    const seen = given.behind((db) =>
      db.prepare('SELECT run_id, group_concat(id) AS ids FROM frames GROUP BY run_id').all(),
    ) as { run_id: string; ids: string }[];
    const expected = [...written].filter(([, texts]) => texts.length > 0);
    assert.equal(seen.length, expected.length);
    for (const { run_id: runId, ids } of seen)
      assert.equal(ids.split(',').length, written.get(runId)!.length, runId);

    function begin(runId: string): void {
      if (!written.has(runId)) written.set(runId, []);
    }
  }));

test('S1 given frames of a run, when ids come again, then nothing of the batch is stored', () =>
  lend(async (given) => {
    const put = (...payloads: PayloadWrite[]): Promise<CommitResult> =>
      given.log.commit(batch([], { payloads }));
    await put(frames('r', 0, 'a', 'b'));
    await assert.rejects(put(frames('q', 0, 'x'), frames('r', 1, 'again')), /already/);
    await put(frames('r', 2, 'c'), { kind: 'end-lease', runId: 'r' });
    await assert.rejects(put(frames('q', 0, 'x'), frames('r', 2, 'again')), /already/);
    assert.deepEqual(await textsOf(given, 'r'), ['a', 'b', 'c']);
    assert.deepEqual(await textsOf(given, 'q'), []);
  }));

test('S1 frames of one mode are read in order, wherever they lie, and no other mode that begins like it', () =>
  lend(async (given) => {
    const { log } = given;
    const put = (first: number, ...names: string[]) =>
      log.commit(
        batch([], {
          payloads: [
            {
              ...{ kind: 'frames', runId: 'r', threadId: 't', first },
              frames: names.map((event, index) => ({ event, data: `${index}` })),
            },
          ],
        }),
      );
    // Enough for those in front to move to their place.
    for (let first = 0; first < 40; first += 4)
      await put(first, 'lifecycle', 'lifecycles', 'lifecycle|a:1|b', 'values|lifecycle');
    assert.ok(count(given, 'frame_rows') > 0 && count(given, 'frame_tail') > 0);
    const found = await log.payloads.framesNamed('r', 'lifecycle');
    const expected = Array.from({ length: 40 }, (_, id) => id).filter((id) => id % 2 === 0);
    assert.deepEqual(
      found.map(({ id, event, data }) => [id, event, data]),
      expected.map((id) => [id, id % 4 === 0 ? 'lifecycle' : 'lifecycle|a:1|b', `${id % 4}`]),
    );
    assert.deepEqual(await log.payloads.framesNamed('q', 'lifecycle'), []);
    const [long] = [JSON.stringify({ text: 'x'.repeat(3000) })];
    await log.commit(
      batch([], {
        payloads: [
          {
            kind: 'frames',
            runId: 'r',
            threadId: 't',
            first: 40,
            frames: [{ event: 'lifecycle', data: long! }],
          },
        ],
      }),
    );
    assert.equal((await log.payloads.framesNamed('r', 'lifecycle')).at(-1)!.data, long);
  }));

test("L3 no table has a forgotten run's frames, also after they moved", () =>
  lend(async (given) => {
    const put = (...payloads: PayloadWrite[]): Promise<CommitResult> =>
      given.log.commit(batch([], { payloads }));
    // The other one keeps the table from being cut.
    await put(frames('other', 0, 'first'));
    for (let id = 0; id < 40; id++) await put(frames('r', id, `secret ${id}`));
    assert.equal(count(given, 'frame_rows'), 32);
    assert.equal(count(given, 'frame_tail'), 41);
    await put({ kind: 'forget-frames', runId: 'r', threadId: 'of r' });
    assert.equal(count(given, 'frame_rows') + count(given, 'frame_runs'), 1);
    assert.equal(count(given, 'frame_tail'), 1);
    for (let id = 0; id < 40; id++) await put(frames('q', id, `secret ${id}`));
    const log = await given.reopen();
    const purge = { kind: 'forget-thread-frames', threadId: 'of q' } as const;
    await log.commit(batch([], { payloads: [purge] }));
    assert.equal(count(given, 'frame_rows') + count(given, 'frame_tail'), 1);
  }));

test('a slow run does not keep the table of newest frames from being cut', () =>
  lend(async (given) => {
    await given.log.commit(batch([], { payloads: [frames('slow', 0, 'first')] }));
    for (let id = 0; id < 600; id++)
      await given.log.commit(
        batch([], { payloads: Array.from({ length: 20 }, (_, run) => frames(`r${run}`, id, `${id}`)) }),
      );
    assert.ok(count(given, 'frame_tail') <= 8192, `${count(given, 'frame_tail')} rows`);
    const ends = ['slow', ...Array.from({ length: 20 }, (_, run) => `r${run}`)];
    const payloads = ends.map((runId) => ({ kind: 'end-lease', runId }) as const);
    await given.log.commit(batch([], { payloads }));
    assert.equal(count(given, 'frame_tail'), 0);
    assert.equal((await textsOf(given, 'r7')).length, 600);
    assert.deepEqual(await textsOf(given, 'slow'), ['first']);
  }));

test.run();
