/** An import step by step: what can be seen of it, and what is left when it breaks. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toThreadEvent } from '../../../src/archive/event-schema.ts';
import { eraseImports } from '../../../src/actors/broken-imports.ts';
import { importThread, type Imported } from '../../../src/archive/import.ts';
import { inspect, type Inspected } from '../../../src/archive/inspect.ts';
import { KEEP_IDS, newIds } from '../../../src/archive/new-ids.ts';
import { openExport, type ExportedFile, type ReadRecord } from '../../../src/archive/read.ts';
import { exportThread } from '../../../src/archive/write.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { Batch, EventLog } from '../../../src/store/port/log.ts';
import type { CheckpointText } from '../../../src/store/port/payloads.ts';
import { openThreadSource } from '../../../src/store/sql/past/thread-source.ts';
import { openReading } from '../../../src/store/sqlite/history.ts';
import { verify } from '../../../src/past/verify/verify.ts';
import { ask, fact, SUCCESS, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('archive/import');

const RUNS = 12;
const MINE = '01980000-0000-7000-8000-000000000200';
const runAt = (index: number): string =>
  `01980000-0000-7000-8000-0000000001${String(index).padStart(2, '0')}`;

/** A list that grows by one long text in each run. */
const checkpointAt = (index: number): CheckpointText => {
  const version = String(index + 1).padStart(4, '0');
  const values = Array.from({ length: index + 1 }, (_, at) => `${at} ${'text '.repeat(30_000)}`);
  return {
    ...{ ns: '', checkpointId: `c${index}`, parentId: index === 0 ? null : `c${index - 1}`, body: '{"v":4}' },
    ...{ metadata: { thread_id: THREAD, run_id: runAt(index) }, valueChannels: ['list'] },
    channelVersions: { list: version },
    blobs: [{ channel: 'list', version, data: JSON.stringify(values) }],
  };
};

/** Runs one after the other, and a last one that stays open. */
async function live({ done }: TestThreads): Promise<void> {
  await done(ask.createThread({ topic: 'a' }));
  for (let index = 0; index < RUNS; index++) {
    const [runId, lease] = [runAt(index), `lease${index}`];
    const [threadId, data] = [THREAD, JSON.stringify({ list: index })];
    await done([ask.createRun(runId, 'enqueue', { metadata: { of: THREAD } }), ask.start(runId, lease)]);
    await done(ask.save(runId, `c${index}`, 1, lease), {
      payloads: [
        { kind: 'checkpoint', threadId, runId, checkpoint: checkpointAt(index) },
        { kind: 'frames', runId, threadId, first: 0, frames: [{ event: 'values', data }] },
        { kind: 'untracked-values', runId, threadId, data },
      ],
    });
    if (index < RUNS - 1) await done(ask.complete(runId, SUCCESS, 1, lease));
  }
}

interface Scene extends TestThreads {
  readonly file: ExportedFile;
  readonly inspected: Inspected;
  import(options?: { file?: ExportedFile; newIds?: boolean; log?: EventLog }): Promise<Imported>;
}

/** Lends an empty log, and the file of a thread that lived in another one. */
const withExported = (use: (scene: Scene) => Promise<void>): Promise<void> =>
  withThreads(async (source) => {
    await live(source);
    const path = join(source.dir, 'file');
    const from = openThreadSource(openReading(source.dir), THREAD);
    await writeFile(path, exportThread(from, { threadId: THREAD, exportedAt: 5, libraries: {} }));
    await from.close();
    const file = await openExport(path);
    await withThreads(async (given) => {
      const inspected = await inspect(file);
      const scene: Scene = Object.assign(Object.create(given) as TestThreads, {
        ...{ file, inspected },
        import({ file: other = file, newIds: hasNewIds = false, log = given.log } = {}) {
          const ids = randomIds(given.clock);
          const rename = hasNewIds ? newIds(inspected, ids.uuid) : KEEP_IDS;
          const into = { log, threads: given.another(() => log), ids };
          return importThread(into, other, inspected, { rename, metadata: { topic: 'b' } });
        },
      });
      await use(scene);
    }).finally(() => file.close());
  });

const verified = (scene: TestThreads): Promise<void> =>
  scene.past(async (history) => assert.equal((await verify(history)).finding, undefined));

test('L1 X1 P2 one commit of all events shows an imported thread, and commits before it are bounded', () =>
  withExported(async (scene) => {
    const { log } = scene;
    const sizes: number[] = [];
    const events: number[] = [];
    const watched: EventLog = {
      ...log,
      async commit(batch: Batch) {
        const result = await log.commit(batch);
        sizes.push(JSON.stringify(batch.payloads).length);
        events.push(...batch.appends.map((append) => append.events.length));
        // Nobody sees a part of it: with the first events the whole thread is there.
        assert.equal((await log.views.threads.get(THREAD)) !== undefined, events.length > 0);
        assert.deepEqual(await log.views.runs.dueThreads(Number.MAX_SAFE_INTEGER, 10), []);
        assert.deepEqual(await log.views.runs.busyThreads(), []);
        await verified(scene);
        return result;
      },
    };
    const announced: string[] = [];
    log.onCommitted((notice) => announced.push(...notice.events.map(({ type }) => type)));
    assert.deepEqual(await scene.import({ log: watched }), { ok: true, threadId: THREAD });
    assert.ok(sizes.length > 4, `${sizes.length} commits`);
    assert.ok(Math.max(...sizes) < 10_000_000, String(Math.max(...sizes)));
    // The thread, each run's creation, start and step, the ends of all, and the import itself.
    assert.deepEqual(events, [1 + 4 * RUNS + 1]);
    assert.deepEqual(announced, []);
    const thread = await log.views.threads.get(THREAD);
    assert.deepEqual([thread?.metadata, thread?.status], [{ topic: 'b' }, 'interrupted']);
    const values = await log.payloads.values(THREAD, `c${RUNS - 1}`);
    assert.equal((values?.parse() as { list: unknown[] }).list.length, RUNS);
  }));

test('P3 an imported thread takes about as much room as the exported one', () =>
  withExported(async (scene) => {
    await scene.import();
    const { channels } = await scene.log.payloads.storage(THREAD);
    assert.ok(channels[0]!.bytes < 150_000 * RUNS * 1.5, String(channels[0]!.bytes));
  }));

test('S2 frames of an imported run are kept as if it had ended with the import', () =>
  withExported(async (scene) => {
    const { clock, log } = scene;
    await clock.advance(100_000);
    const importedAt = clock.now();
    await scene.import();
    const due = async (before: number): Promise<number> =>
      (await log.views.retention.runsWithFrames({ after: undefined, before, looked: 100 })).kept.length;
    assert.deepEqual([await due(importedAt), await due(importedAt + 1)], [0, RUNS]);
  }));

test('L1 an import that breaks leaves nothing, and can be tried again under the same id', () =>
  withExported(async (scene) => {
    const { file } = scene;
    async function* records(): AsyncGenerator<ReadRecord> {
      let left = 20;
      for await (const record of file.records()) {
        if (left-- === 0) throw new Error('the disk was pulled out');
        yield record;
      }
    }
    await assert.rejects(scene.import({ file: { ...file, records } }), /pulled out/);
    assert.ok(!scene.dump().includes('text text'));
    await verified(scene);
    assert.equal((await scene.import()).ok, true);
    await verified(scene);
  }));

test('X5 what an import left when its process died is erased at the next start', () =>
  withExported(async (scene) => {
    // Given an import whose process dies before the last commit
    const died = Object.assign(new Error('died'), { died: true });
    const dying: EventLog = {
      ...scene.log,
      async commit(batch: Batch) {
        if (batch.appends.length > 0 || batch.payloads?.[0]?.kind === 'erase-import') throw died;
        return scene.log.commit(batch);
      },
    };
    await assert.rejects(scene.import({ log: dying }), AggregateError);
    assert.ok(scene.dump().includes('text text'));
    await verified(scene);
    // When the log is opened again
    await scene.restart();
    await eraseImports(scene.log, randomIds(scene.clock));
    // Then nothing is left, and the file can be imported
    assert.ok(!scene.dump().includes('text text') && !scene.dump().includes('"list"'));
    await verified(scene);
    assert.equal((await scene.import()).ok, true);
    assert.equal((await scene.import()).ok, false);
    await verified(scene);
  }));

test('new ids replace the thread and its runs wherever a text is an id, and nothing else', () =>
  withExported(async (scene) => {
    const done = await scene.import({ newIds: true });
    assert.ok(done.ok && done.threadId !== THREAD);
    const dump = scene.dump();
    for (const id of [THREAD, ...Array.from({ length: RUNS }, (_, index) => runAt(index))])
      // The thread's event says where it came from.
      assert.ok(!dump.replaceAll(`"origin":{"threadId":"${THREAD}"`, '').includes(`"${id}"`), id);
    const [saved] = await scene.log.payloads.checkpoints(done.threadId, { limit: 1 });
    assert.equal(saved?.metadata['thread_id'], done.threadId);
    await verified(scene);
  }));

test('L1 S2 a thread that is made while one with its id is imported stays, and the import is refused', () =>
  withExported(async (scene) => {
    const { file, log } = scene;
    async function* records(): AsyncGenerator<ReadRecord> {
      for await (const record of file.records()) {
        if (record.kind === 'event' && record.head.version === 1) {
          await scene.done(ask.createThread({ mine: true }));
          await scene.done([ask.createRun(MINE, 'enqueue'), ask.start(MINE, 'lease')]);
          const frames = [{ event: 'values', data: JSON.stringify({ list: 'x'.repeat(2_000) }) }];
          const mine = { kind: 'frames', runId: MINE, threadId: THREAD, first: 0, frames } as const;
          await scene.done(ask.complete(MINE, SUCCESS, 1, 'lease'), { payloads: [mine] });
        }
        yield record;
      }
    }
    assert.deepEqual(await scene.import({ file: { ...file, records } }), { ok: false });
    assert.deepEqual((await log.views.threads.get(THREAD))?.metadata['mine'], true);
    assert.equal((await log.payloads.frames(MINE, -1, 10)).length, 1);
    for (let index = 0; index < RUNS; index++)
      assert.deepEqual(await log.payloads.frames(runAt(index), -1, 10), []);
    assert.ok(!scene.dump().includes('text text'));
    await verified(scene);
  }));

test('an event of a file may name its caller but has no other unknown member', () => {
  const { type, data } = fact.created();
  assert.deepEqual(toThreadEvent(type, { ...data, by: 'ann' }), { type, data: { ...data, by: 'ann' } });
  assert.match(String(toThreadEvent(type, { ...data, of: 'ann' })), /"of"/);
});

test.run();
