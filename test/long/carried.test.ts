/**
 * A thread of a gigabyte is exported and imported: memory stays flat, and time grows with the thread. `CARRIED_MB` (1000)
 * makes it smaller.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createThreads } from '../../src/actors/threads.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import type { CheckpointText } from '../../src/store/port/payloads.ts';
import { storeAt } from '../../src/open-store.ts';
import { ask, SUCCESS, THREAD } from '../support/given.ts';
import { cpuSeconds } from '../support/process-figures.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';

const test = suite('long: a large thread is carried', { timeoutMs: 900_000 });

const TOTAL_MB = Number(process.env['CARRIED_MB'] ?? 1_000);
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Runs of one thread whose checkpoints hold a megabyte of fresh text each. */
async function makeThread(data: string, megabytes: number): Promise<void> {
  const clock = systemClock();
  const ids = randomIds(clock);
  const log = await storeAt(data).openLog({ clock, onFault: (error) => assert.fail(String(error)) });
  const threads = createThreads({ log, clock, ids, webhooks: { enabled: false, render: () => '' } });
  const done = async (...given: Parameters<typeof threads.dispatch>): Promise<void> =>
    assert.ok((await threads.dispatch(...given)).ok);
  await done(THREAD, [ask.createThread()]);
  let parentId: string | null = null;
  for (let made = 0; made < megabytes; made++) {
    const [runId, checkpointId, lease] = [ids.uuid(), ids.uuid(), ids.token()];
    // No text has anything in common with the one before.
    const text = randomBytes(750_000).toString('base64');
    const version = String(made + 1).padStart(10, '0');
    const checkpoint: CheckpointText = {
      ...{ ns: '', checkpointId, parentId, body: '{"v":4}', metadata: {}, valueChannels: ['text'] },
      channelVersions: { text: version },
      blobs: [{ channel: 'text', version, data: JSON.stringify(`${made} ${text}`) }],
    };
    await done(THREAD, [ask.createRun(runId), ask.start(runId, lease)]);
    const payloads = [{ kind: 'checkpoint', threadId: THREAD, runId, checkpoint }] as const;
    await done(THREAD, [ask.save(runId, checkpointId, 1, lease)], { payloads });
    await done(THREAD, [ask.complete(runId, SUCCESS, 1, lease)]);
    parentId = checkpointId;
  }
  await log.close();
}

/** Runs the command; returns the most memory that it occupied, and its processor time. */
async function run(...args: string[]): Promise<{ peakMb: number; seconds: number }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  let [peakMb, seconds] = [0, 0];
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      seconds = cpuSeconds(child.pid!);
    } catch {
      // It has ended.
    }
  }, 20);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearInterval(look);
  assert.equal(code, 0, args.join(' '));
  return { peakMb, seconds };
}

test('export and import of a large thread take flat memory and time in proportion to the thread', () =>
  withTempDir(async (dir) => {
    const carry = async (name: string, megabytes: number) => {
      const [from, to, file] = ['from', 'to', 'file'].map((part) => join(dir, `${name}-${part}`)) as [
        string,
        string,
        string,
      ];
      await makeThread(from, megabytes);
      const out = await run('export', '--data', from, '--thread', THREAD, '--output', file);
      const into = await run('import', file, '--data', to);
      await run('verify', '--data', to);
      console.log(name, { out, into, fileMb: statSync(file).size / 1e6 });
      return { out, into };
    };
    const small = await carry('small', TOTAL_MB / 4);
    const large = await carry('large', TOTAL_MB);
    assert.ok(large.out.peakMb < small.out.peakMb + 100, 'the export holds more of a larger thread');
    assert.ok(large.into.peakMb < small.into.peakMb + 150, 'the import holds more of a larger thread');
    assert.ok(large.out.seconds < small.out.seconds * 6, 'the export takes more than its share of time');
    assert.ok(large.into.seconds < small.into.seconds * 6, 'the import takes more than its share of time');
  }));

test.run();
