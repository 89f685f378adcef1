import * as assert from 'uvu/assert';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
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
    assert.is(second.code, 3);
    assert.match(second.output, `${wal} is missing`);
    await rename(`${wal}.kept`, wal);
    const third = await serve();
    assert.is((await third.ask('GET', `/threads/${threadId}`)).status, 200);
  }));

test('a data folder that cannot be made or holds no log is refused by serve and threads with 3', () =>
  withPrograms(async ({ run, dir }) => {
    const config = fileURLToPath(new URL('../fixtures/project', import.meta.url));
    const junk = join(dir, 'junk');
    await mkdir(junk);
    await writeFile(join(junk, 'log.db'), 'no database, '.repeat(1_000));
    // Linux denies that it has such a folder, and that it could.
    const impossible = existsSync('/proc/self') ? '/proc/no-such-folder/data' : join(junk, 'log.db', 'data');
    for (const [data, says] of [
      [junk, `the log in the data directory ${junk} (--data, PLATFORM_DATA) cannot be opened`],
      [impossible, `the data directory ${impossible} (--data, PLATFORM_DATA) cannot be made`],
      [join(junk, 'log.db'), 'cannot be made'],
    ] as const) {
      const { code, output } = await run({
        args: ['serve', '--config', config, '--port', '0', '--data', data],
      });
      assert.is(code, 3, output);
      assert.match(output, says);
    }
    const { code, output } = await run({ args: ['threads', '--data', junk] });
    assert.is(code, 3);
    assert.match(output, `the log in the data directory ${junk} `);
  }));

test.run();
