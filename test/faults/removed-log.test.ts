/** The real program while somebody takes its files away. */
import * as assert from 'uvu/assert';
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';
import { suite } from '../support/suite.ts';

const test = suite('files taken away');

const EXIT_POISONED = 70;
const LOOK_MS = 1_000;

/** Creates threads until one is refused. */
async function askUntilRefused(server: ServerProgram): Promise<void> {
  const { monotonic } = systemClock();
  const began = monotonic();
  for (;;) {
    const { status } = await server.ask('POST', '/threads', {});
    if (status === 503) return;
    assert.is(status, 200);
    assert.ok(monotonic() - began < 10 * LOOK_MS, 'it goes on acknowledging');
  }
}

/** Nothing more is acknowledged, and the file is named. */
async function assertEnds(server: ServerProgram, file: string): Promise<void> {
  await askUntilRefused(server);
  const later = await server.ask('POST', '/threads', {}).catch(() => undefined);
  if (later !== undefined) assert.is(later.status, 503);
  assert.is(await server.exited, EXIT_POISONED, server.output());
  assert.match(server.output(), `${file} was removed or replaced`);
}

test('L4 a server whose log is replaced by a copy acknowledges nothing more and exits with 70', () =>
  withPrograms(async ({ serve, dir }) => {
    const log = join(dir, 'data', 'log.db');
    const server = await serve();
    assert.is((await server.ask('POST', '/threads', {})).status, 200);
    await copyFile(log, join(dir, 'copy'));
    await rename(join(dir, 'copy'), log);
    await assertEnds(server, log);
  }));

test('L4 a server whose data folder was replaced exits with 70 and the one in its place goes on', () =>
  withPrograms(async ({ serve, dir }) => {
    const data = join(dir, 'data');
    const first = await serve();
    assert.is((await first.ask('POST', '/threads', {})).status, 200);
    await rm(data, { recursive: true });
    const second = await serve();
    const create = async (): Promise<string> =>
      (await second.ask('POST', '/threads', {})).json.thread_id as string;
    const threads = [await create()];
    await assertEnds(first, join(data, 'log.db'));
    // It looks once more meanwhile.
    const { monotonic } = systemClock();
    for (const end = monotonic() + LOOK_MS; monotonic() < end;) threads.push(await create());
    await second.end('SIGKILL');
    const third = await serve();
    for (const thread of threads) assert.is((await third.ask('GET', `/threads/${thread}`)).status, 200);
    assert.is(await third.end('SIGTERM'), 0, third.output());
  }));

test.run();
