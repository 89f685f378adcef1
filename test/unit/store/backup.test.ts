/** Readers that stay long, and copies that are made while the log is written. */
import assert from 'node:assert/strict';
import { Database } from '../../../src/store/sqlite/library.ts';
import { randomBytes } from 'node:crypto';
import { cp, mkdir } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createThreads } from '../../../src/actors/threads.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { ask } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { createRandom } from '../../support/random.ts';
import { seededIds, withLog } from '../../support/with-log.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { assertVerified } from '../../support/assert-verified.ts';

const test = suite('store, readers and copies');

const MIB = 2 ** 20;
/** What the write-ahead log may keep on the disk when nobody reads it. */
const WAL_LIMIT = 64 * MIB;

const walSize = (dir: string): number => statSync(join(dir, `${LOG_FILE}-wal`)).size;

/** Frames of one run, a MiB each, which nothing can compress. */
async function writeFrames(log: EventLog, from: number, count: number): Promise<void> {
  for (let first = from; first < from + count; first++) {
    const frames = [{ event: 'values', data: JSON.stringify(randomBytes(0.75 * MIB).toString('base64')) }];
    const { kind } = await log.commit(
      batch([], { payloads: [{ kind: 'frames', runId: 'r', threadId: 't', first, frames }] }),
    );
    assert.equal(kind, 'committed');
  }
}

test('L1 the write-ahead log outgrows its limit while a reader stays and shrinks when it leaves', () =>
  withLog(async ({ log, dir }) => {
    await writeFrames(log, 0, 1);
    const reader = new Database(join(dir, LOG_FILE), { readonly: true });
    try {
      reader.exec('BEGIN');
      const count = reader.prepare('SELECT count(*) FROM frames').pluck();
      assert.equal(count.get(), 1);
      await writeFrames(log, 1, 80);
      assert.ok(walSize(dir) > WAL_LIMIT, `${walSize(dir)} bytes`);
      assert.equal(count.get(), 1);
    } finally {
      reader.close();
    }
    await writeFrames(log, 81, 8);
    assert.ok(walSize(dir) <= WAL_LIMIT, `${walSize(dir)} bytes`);
    assert.equal(await log.payloads.lastFrame('r'), 88);
  }));

test('L1 L2 P2 copies by VACUUM INTO, the backup interface or file by file verify while writes go on', () =>
  withLog(async ({ log, dir, clock }) =>
    withTempDir(async (copies) => {
      const ids = seededIds(clock, createRandom(1));
      const webhooks = { enabled: false, render: () => '' };
      const threads = createThreads({ log, clock, ids, webhooks });
      const create = async (threadId: string) =>
        assert.ok((await threads.dispatch(threadId, [ask.createThread({}, threadId)])).ok);
      let writing = true;
      let written = 0;
      const writer = (async () => {
        while (writing) await create(`t${written++}`);
      })();
      const names = ['vacuum', 'backup', 'files'].map((name) => join(copies, name));
      for (const name of names) await mkdir(name);
      const [vacuum, backup, files] = names as [string, string, string];
      // With nothing of ours: whoever has the file can copy it.
      const other = new Database(join(dir, LOG_FILE), { readonly: true });
      try {
        await create('the one');
        other.prepare('VACUUM INTO ?').run(join(vacuum, LOG_FILE));
        await other.backup(join(backup, LOG_FILE));
      } finally {
        writing = false;
        await writer;
        other.close();
      }
      for (const suffix of ['', '-wal'])
        await cp(join(dir, `${LOG_FILE}${suffix}`), join(files, `${LOG_FILE}${suffix}`));
      for (const name of names) {
        await assertVerified(name);
        const copy = new Database(join(name, LOG_FILE), { readonly: true });
        const found = copy.prepare("SELECT count(*) FROM threads WHERE thread_id = 'the one'").pluck().get();
        copy.close();
        assert.equal(found, 1, name);
      }
    }),
  ));

test.run();
