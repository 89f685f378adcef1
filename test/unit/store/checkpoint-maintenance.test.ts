/** Removing and copying checkpoints at random: what stays reads as before, what goes leaves no row. */
import assert from 'node:assert/strict';
import type { CheckpointKey } from '../../../src/thread/events.ts';
import type { PayloadWrite, StoredCheckpoint } from '../../../src/store/port/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { batch } from '../../support/batches.ts';
import { createRandom, seedFromEnv, type Random } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, maintenance of checkpoints');

const LIVES = 20;
const STEPS = 60;

interface Made {
  readonly ns: string;
  readonly checkpointId: string;
  runId: string;
  /** Everything that a reader gets of it. */
  text: string;
  /** Marks that its values hold, and nothing else in the log. */
  readonly marks: readonly string[];
}

function startLife({ log, past }: TestLog, random: Random) {
  const threads = new Map<string, Made[]>([['t', []]]);
  const state = new Map<string, { versions: Record<string, string>; values: Record<string, string[]> }>();
  let count = 0;
  const commit = async (...payloads: PayloadWrite[]): Promise<void> => {
    assert.equal((await log.commit(batch([], { payloads }))).kind, 'committed');
  };
  const read = async (threadId: string, { ns, checkpointId }: CheckpointKey): Promise<string> => {
    const stored = (await log.payloads.checkpoint(threadId, ns, checkpointId)) as StoredCheckpoint;
    return JSON.stringify(stored);
  };

  /** A list that mostly grows, sometimes starts anew, in channels of two namespaces; sometimes from an older state. */
  async function save(threadId: string): Promise<void> {
    const made = threads.get(threadId)!;
    const ns = random.pick(['', '', 'n:task']);
    const place = `${threadId} ${ns}`;
    const forked = random.chance(0.1) && made.length > 0 ? random.pick(made) : undefined;
    const known = state.get(forked?.ns === ns ? `${threadId} ${forked.checkpointId}` : place) ?? {
      versions: {},
      values: {},
    };
    const parentId = made.findLast((each) => each.ns === ns)?.checkpointId ?? null;
    count += 1;
    // Ids that are UUIDs are stored otherwise.
    const checkpointId =
      count % 3 === 0 ? `c${count}` : `${'0'.repeat(8)}-0000-7000-8000-${String(count).padStart(12, '0')}`;
    const mark = `c${count}`;
    const [versions, values] = [{ ...known.versions }, { ...known.values }];
    const runId = `r${random.int(1, 4)}`;
    const blobs = ['a', 'b']
      .filter(() => random.chance(0.7))
      .map((channel) => {
        const old = random.chance(0.85) ? (values[channel] ?? []) : [];
        const value = (values[channel] = [...old, `<${mark}${channel}> ${'x'.repeat(random.int(0, 300))}`]);
        const version = (versions[channel] = `${String(count).padStart(8, '0')}.${random.int(1, 9)}`);
        return { channel, version, data: JSON.stringify(value) };
      });
    state.set(place, { versions, values }).set(`${threadId} ${checkpointId}`, { versions, values });
    await commit(
      {
        ...{ kind: 'checkpoint', threadId, runId },
        checkpoint: {
          ...{ ns, checkpointId, parentId, body: `{"id":"${checkpointId}"}`, blobs },
          ...{
            metadata: { thread_id: threadId, run_id: runId, note: `<${mark}m>`, step: count },
            channelVersions: versions,
            valueChannels: ['a', 'b'],
          },
        },
      },
      {
        ...{ kind: 'checkpoint-writes', threadId, runId, ns, checkpointId },
        writes: [{ taskId: 't', idx: 0, channel: 'a', data: `"<${mark}w> ${'x'.repeat(200)}"` }],
      },
    );
    const marks = Object.values(values).flatMap((list) => list.map((item) => item.split(' ')[0]!));
    made.push({
      ns,
      checkpointId,
      runId,
      text: await read(threadId, { ns, checkpointId }),
      marks: [...marks, `<${mark}w>`, `<${mark}m>`],
    });
  }

  async function step(): Promise<void> {
    const threadId = random.pick([...threads.keys()]);
    const made = threads.get(threadId)!;
    const roll = random.int(1, 100);
    if (roll <= 80 || made.length === 0) return save(threadId);
    const kept = made.filter(() => random.chance(0.2)).map(({ ns, checkpointId }) => ({ ns, checkpointId }));
    const isKept = (each: Made): boolean =>
      kept.some(({ checkpointId }) => checkpointId === each.checkpointId);
    if (roll <= 92) {
      const { runId } = random.pick(made);
      await commit({ kind: 'forget-checkpoints', threadId, runId, kept });
      threads.set(
        threadId,
        made.filter((each) => each.runId !== runId || isKept(each)),
      );
    } else if (roll <= 96) {
      await commit({ kind: 'keep-checkpoints', threadId, kept });
      threads.set(threadId, made.filter(isKept));
    } else {
      const copy = `${threadId}'`;
      if (threads.has(copy)) return;
      await commit({ kind: 'copy-checkpoints', from: threadId, threadId: copy });
      threads.set(
        copy,
        await Promise.all(
          made.map(async (each) => {
            const text = await read(copy, each);
            assert.equal(text, each.text.replaceAll(`"thread_id":"${threadId}"`, `"thread_id":"${copy}"`));
            return { ...each, text };
          }),
        ),
      );
      for (const [key, value] of [...state])
        if (key.startsWith(`${threadId} `)) state.set(copy + key.slice(threadId.length), value);
    }
    // A fork begins at what is there: the newest of each namespace, or nothing.
    for (const key of [...state.keys()]) {
      const [at, id] = key.split(' ') as [string, string];
      const left = threads.get(at)!;
      const isPlace = id === '' || id === 'n:task';
      if (!isPlace && !left.some(({ checkpointId }) => checkpointId === id)) state.delete(key);
      if (isPlace) {
        const newest = left.findLast(({ ns }) => ns === id);
        const now = newest && state.get(`${at} ${newest.checkpointId}`);
        if (now === undefined) state.delete(key);
        else state.set(key, now);
      }
    }
  }

  return {
    step,
    async check(): Promise<void> {
      for (const [threadId, made] of threads) {
        const ids = (await log.payloads.outline(threadId)).map(({ checkpointId }) => checkpointId);
        assert.deepEqual(
          ids.toReversed(),
          made.map(({ checkpointId }) => checkpointId),
        );
        for (const each of made) assert.equal(await read(threadId, each), each.text, each.checkpointId);
        for (const ns of ['', 'n:task']) {
          const latest = await log.payloads.checkpoint(threadId, ns);
          const expected = made.findLast((each) => each.ns === ns)?.text;
          assert.equal(latest && JSON.stringify(latest), expected);
        }
        // The writer holds what it has written last; a reader beside it reads all.
        for (const { checkpointId } of made.filter(({ ns }) => ns === '')) {
          const values = await log.payloads.values(threadId, checkpointId);
          const stored = await past(({ payloads }) => payloads.values(threadId, checkpointId));
          assert.equal(values?.text, stored?.text);
        }
      }
    },
    marks: (): Set<string> =>
      new Set([...threads.values()].flatMap((made) => made.flatMap(({ marks }) => marks))),
    made: (): number => count,
  };
}

test('P3 L3 checkpoints that share values read as before when others are removed or copied', async () => {
  const first = seedFromEnv();
  let erased = 0;
  let leaning = 0;
  for (let seed = first; seed < first + LIVES; seed++)
    await withLog(
      async (given) => {
        const life = startLife(given, createRandom(seed));
        try {
          for (let i = 0; i < STEPS; i++) {
            await life.step();
            // Whatever broke stays broken.
            if (i % 4 === 3) await life.check();
          }
          const left = life.marks();
          const stored = given.behind((db) =>
            db
              .prepare('SELECT * FROM texts')
              .all()
              .map((row) => JSON.stringify(row)),
          );
          const found = (mark: string): boolean => stored.some((text) => text.includes(mark));
          const all = Array.from({ length: life.made() }, (_, i) => i + 1).flatMap((i) =>
            ['a', 'b', 'w', 'm'].map((end) => `<c${i}${end}>`),
          );
          leaning += given.behind((db) =>
            db.prepare("SELECT count(*) FROM texts WHERE kind = 'v' AND bases IS NOT NULL").pluck().get(),
          ) as number;
          const foreign = given.behind((db) =>
            db
              .prepare(
                `SELECT count(*) FROM texts AS own, json_each(own.bases) AS base JOIN texts AS below
                 ON below.id = base.value WHERE below.thread <> own.thread`,
              )
              .pluck()
              .get(),
          );
          assert.equal(foreign, 0, 'a text has one of another thread as its base');
          // One that is left may be stored in parts.
          assert.deepEqual(all.filter((mark) => !left.has(mark)).filter(found), []);
          assert.ok(left.size === 0 || all.some(found));
          erased += all.length - left.size;
        } catch (error) {
          throw new Error(`SEED=${seed}`, { cause: error });
        }
      },
      { projection: fakeProjection() },
    );
  assert.ok(erased > LIVES, `${erased}`);
  assert.ok(leaning > LIVES, `${leaning} values are differences`);
});

test.run();
