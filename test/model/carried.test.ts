/** Threads in the middle of simulated lives are exported and imported: whatever happened to them, all of it arrives. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importThread } from '../../src/archive/import.ts';
import { inspect } from '../../src/archive/inspect.ts';
import { KEEP_IDS } from '../../src/archive/new-ids.ts';
import { openExport } from '../../src/archive/read.ts';
import { exportThread, NothingToExport } from '../../src/archive/write.ts';
import { createThreads } from '../../src/actors/threads.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import type { EventLog } from '../../src/store/port/log.ts';
import { openThreadSource } from '../../src/store/sql/past/thread-source.ts';
import { openReading } from '../../src/store/sqlite/history.ts';
import { verify } from '../../src/past/verify/verify.ts';
import { threadStream } from '../../src/thread/events.ts';
import { seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withLog, type TestLog } from '../support/with-log.ts';
import { liveOnce } from '../simulation/life.ts';

const test = suite('model/carried');

const LIVES = Number(process.env['CARRIED_LIVES'] ?? 5);

/** Undefined when there is no such thread. */
async function exportTo(path: string, dir: string, threadId: string): Promise<string | undefined> {
  const source = openThreadSource(openReading(dir), threadId);
  try {
    await writeFile(path, exportThread(source, { threadId, exportedAt: Date.now(), libraries: {} }));
    return path;
  } catch (error) {
    if (error instanceof NothingToExport) return undefined;
    throw error;
  } finally {
    await source.close();
  }
}

async function importFrom(path: string, { log, clock }: TestLog): Promise<void> {
  const file = await openExport(path);
  try {
    const ids = randomIds(clock);
    const threads = createThreads({ log, clock, ids, webhooks: { enabled: false, render: () => '' } });
    const inspected = await inspect(file);
    const { metadata, ttl } = inspected.state;
    const done = await importThread({ log, threads, ids }, file, inspected, {
      rename: KEEP_IDS,
      metadata,
      ttl,
    });
    assert.ok(done.ok);
  } finally {
    await file.close();
  }
}

interface Kept {
  readonly events: unknown[];
  readonly checkpoints: unknown;
  readonly frames: unknown[];
}

/** What is stored of a thread; its events without what only this log says of them. */
async function kept(
  { payloads, readStream }: Pick<EventLog, 'payloads' | 'readStream'>,
  threadId: string,
  runIds: readonly string[],
): Promise<Kept> {
  const events = await readStream(threadStream(threadId), 1, 10_000);
  return {
    events: events.flatMap(({ type, data, meta }) =>
      type === 'ThreadDeleted' ? [] : [{ type, data, at: meta.at }],
    ),
    checkpoints: await payloads.checkpoints(threadId, {}),
    frames: await Promise.all(runIds.map((runId) => payloads.frames(runId, -1, 1_000))),
  };
}

/** Leases and the webhook of a run stay behind, and the thread of a stateless run stays. */
const asCarried = ({ type, data, ...rest }: { type: string; data: object }): unknown => {
  const own = { leaseId: undefined, carrier: undefined, temporary: false };
  const { kwargs: sent } = data as { kwargs?: { webhook?: string } };
  const kwargs = sent && { ...sent, webhook: undefined };
  return JSON.parse(JSON.stringify({ type, ...rest, data: { ...data, ...own, kwargs } }));
};

test('P2 S1 P3 X1 threads with any history arrive with all their events, checkpoints and frames', async () => {
  const first = seedFromEnv();
  let carried = 0;
  for (let seed = first; seed < first + LIVES; seed++) {
    const { failure } = await liveOnce(seed >>> 0, ({ disk, ledger }) =>
      withTempDir((dir) =>
        withLog(async (target) => {
          disk.copyTo(dir);
          const threads = ledger.heard.flatMap(({ type, data }) =>
            type === 'ThreadCreated' && !ledger.deletedThreads.has(data.threadId) ? [data.threadId] : [],
          );
          for (const threadId of threads) {
            const path = await exportTo(join(target.dir, threadId), dir, threadId);
            if (path === undefined) continue;
            carried += 1;
            await importFrom(path, target);
            const runs = (await disk.readStream(threadStream(threadId), 1, 10_000)).flatMap(
              ({ type, data }) => (type === 'RunCreated' ? [data.runId] : []),
            );
            const [before, after] = [
              await kept(disk, threadId, runs),
              await kept(target.log, threadId, runs),
            ];
            const note = `SEED=${seed} CARRIED_LIVES=1, thread ${threadId}`;
            const events = after.events as { type: string; data: object }[];
            assert.deepEqual(
              events.slice(0, before.events.length).map(asCarried),
              (before.events as typeof events).map(asCarried),
              note,
            );
            const added = events.slice(before.events.length).map(({ type }) => type);
            assert.match(added.join(' '), /^(RunCompleted )*ThreadImported$/, note);
            assert.deepEqual(after.checkpoints, before.checkpoints, note);
            assert.deepEqual(after.frames, before.frames, note);
          }
          await target.past(async (history) =>
            assert.equal((await verify(history)).finding, undefined, `SEED=${seed}`),
          );
        }),
      ),
    );
    assert.equal(failure, undefined, `SEED=${seed}: ${failure?.stack}`);
  }
  assert.ok(carried >= LIVES, `${carried} threads`);
}, 180_000);

test.run();
