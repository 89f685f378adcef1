import * as assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { storeAt } from '../../src/open-store.ts';
import { threadStream } from '../../src/thread/events.ts';
import { runHere } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';
import { withPrograms } from './programs.ts';

const test = suite('backup');

const PLAIN = { env: { PLATFORM_WORKERS: '0' } };
const say = (text: string) => ({ assistant_id: 'echo', input: { messages: text } });

test('a backup beside a server under load restores with all that was acknowledged before (L1, P2)', () =>
  withPrograms(async ({ serve, run, dir }) => {
    // Given a server under load.
    const server = await serve(PLAIN);
    const acknowledged: string[] = [];
    let isLoaded = true;
    const load = Promise.all(
      ['a', 'b', 'c', 'd'].map(async (text) => {
        while (isLoaded) {
          const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
          await server.ask('POST', `/threads/${thread}/runs/wait`, say(text));
          acknowledged.push(thread);
        }
      }),
    );
    const file = join(dir, 'log.backup');
    let before: string[] = [];
    try {
      while (acknowledged.length < 40) await server.ask('GET', '/ok');
      // When it is backed up.
      before = [...acknowledged];
      const { code, output } = await run({ args: ['backup', '--data', join(dir, 'data'), file] });
      assert.equal(code, 0, output);
      assert.match(output, /^backed up to \S+: [\d.]+ [kM]B, up to position \d+$/m);
    } finally {
      isLoaded = false;
      await load;
    }
    assert.equal(statSync(file).mode & 0o777, 0o600);
    // Then another folder can be made of it, which is in order and has all runs that had been answered.
    const other = join(dir, 'other');
    const restored = await runHere(['restore', file, '--data', other, '--json']);
    assert.equal(restored.code, 0);
    const { position, aside } = JSON.parse(restored.out);
    assert.equal(aside, null);
    assert.equal((await runHere(['verify', '--data', other])).code, 0);
    const history = await storeAt(other).openPast();
    try {
      assert.equal(await history.past.lastPosition(), position);
      for (const thread of before)
        assert.equal((await history.readStream(threadStream(thread), 1, 100)).at(-1)?.type, 'RunCompleted');
    } finally {
      await history.close();
    }
    const again = await serve({ ...PLAIN, args: ['--data', other] });
    const { json } = await again.ask('GET', `/threads/${before[0]}`);
    assert.equal(json.status, 'idle');
  }));

test.run();
