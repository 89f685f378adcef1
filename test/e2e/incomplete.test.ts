import * as assert from 'uvu/assert';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { withPrograms } from './programs.ts';

const test = suite('start, incomplete log');

test('a log that has lost its end is refused with exit code 2, and goes on when it is put back', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const wal = join(dir, 'data', 'log.db-wal');
    const first = await serve();
    const { thread_id: threadId } = (await first.ask('POST', '/threads', {})).json as { thread_id: string };
    await first.end('SIGKILL');
    await rename(wal, `${wal}.kept`);
    const config = fileURLToPath(new URL('../fixtures/project', import.meta.url));
    const second = await run({
      args: ['serve', '--config', config, '--port', '0', '--data', join(dir, 'data')],
    });
    assert.is(second.code, 2);
    assert.match(second.output, `${wal} is missing`);
    await rename(`${wal}.kept`, wal);
    const third = await serve();
    assert.is((await third.ask('GET', `/threads/${threadId}`)).status, 200);
  }));

test.run();
