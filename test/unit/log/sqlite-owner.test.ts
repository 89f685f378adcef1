/** Processes of their own that have a directory, and have lost the lock on it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSqliteLog } from '../../../src/log/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';
import { functions } from '../../support/with-log.ts';

const test = suite('log/sqlite, who has the directory');

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const lacking = existsSync('/proc/self/stat') ? undefined : 'a system that tells of its processes in /proc';
const noteIn = (dir: string): string => join(dir, 'lock.db-owner');

const open = (dir: string) =>
  openSqliteLog({
    ...{ dir, projection: fakeProjection(), functions, clock: createManualClock(1) },
    onFault: assert.ifError,
  });
const assertOpens = (dir: string): Promise<void> => open(dir).close();
const assertBusy = (dir: string): void => assert.throws(() => open(dir), { name: 'DataDirectoryBusy' });

interface Holder {
  readonly pid: number;
  kill(): Promise<void>;
}

/** Lends a process that has the log open, and no lock. `parent`: shell words for what it becomes a child of. */
async function withHolder(
  dir: string,
  use: (holder: Holder) => Promise<void>,
  { parent = '' }: { parent?: string } = {},
): Promise<void> {
  const words = [process.execPath, CHILD, 'hold', dir];
  const script = parent === '' ? 'exec "$@"' : `"$@" & ${parent}`;
  const child = spawn('bash', ['-c', script, 'bash', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let pid: number | undefined;
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    pid = (JSON.parse(String(line)) as { pid: number }).pid;
    const killed = pid;
    await use({
      pid,
      async kill() {
        process.kill(killed, 'SIGKILL');
        if (parent === '') await exited;
      },
    });
  } finally {
    if (parent !== '' && pid !== undefined) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
    await exited;
  }
}

test(
  'a second server is refused until the first is killed, even if the first lost its lock',
  () =>
    withTempDir((dir) =>
      withHolder(dir, async ({ kill }) => {
        assertBusy(dir);
        // Neither takes what keeps the next one out.
        assertBusy(dir);
        await kill();
        await assertOpens(dir);
      }),
    ),
  { lacking },
);

test(
  'given a killed server whose parent has not asked about it, when another one starts, then it may',
  () =>
    withTempDir((dir) =>
      withHolder(
        dir,
        async ({ pid, kill }) => {
          assertBusy(dir);
          await kill();
          await until('it is dead', async () => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
          await assertOpens(dir);
        },
        { parent: 'exec sleep 60' },
      ),
    ),
  { lacking },
);

test(
  'given a copy of the directory of a server that lives, when another one starts in it, then it may',
  () =>
    withTempDir(async (dir) => {
      const [first, copy] = [join(dir, 'first'), join(dir, 'copy')];
      mkdirSync(first);
      await withHolder(first, async () => {
        cpSync(first, copy, { recursive: true });
        assert.ok(existsSync(noteIn(copy)));
        await assertOpens(copy);
        assertBusy(first);
      });
    }),
  { lacking },
);

test(
  'a stale owner note (reused process id, other boot, unreadable) does not stop a server',
  () =>
    withTempDir((dir) =>
      withHolder(dir, async ({ pid, kill }) => {
        const note = readFileSync(noteIn(dir), 'latin1');
        const [number, started, boot, place] = note.trim().split(' ');
        assert.equal(number, String(pid));
        const others = [
          `${number} ${Number(started) + 1} ${boot} ${place}\n`,
          `${number} ${started} ${boot!.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))} ${place}\n`,
          `1 ${started} ${boot} ${place}\n`,
          `999999999 ${started} ${boot} ${place}\n`,
          `${process.pid} ${started} ${boot} ${place}\n`,
          ...[note.slice(0, -5), '', '../self', '\0'],
        ];
        for (const other of others) {
          writeFileSync(noteIn(dir), other);
          await assertOpens(dir);
          assert.ok(!existsSync(noteIn(dir)), 'a note was left by a clean end');
        }
        // What was written is what kept it out.
        writeFileSync(noteIn(dir), note);
        assertBusy(dir);
        await kill();
      }),
    ),
  { lacking },
);

test(
  'a second opening in the same process is refused and keeps the owner note',
  () =>
    withTempDir(async (dir) => {
      const log = open(dir);
      const note = readFileSync(noteIn(dir), 'latin1');
      assertBusy(dir);
      assert.equal(readFileSync(noteIn(dir), 'latin1'), note);
      await log.close();
      const next = open(dir);
      // The end of one that has ended takes nothing from who came after.
      await log.close().catch(() => undefined);
      assert.equal(readFileSync(noteIn(dir), 'latin1'), note);
      await next.close();
    }),
  { lacking },
);

test.run();
