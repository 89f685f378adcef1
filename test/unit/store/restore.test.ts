import * as assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seal } from '../../../src/store/sqlite/files/backup-file.ts';
import { FORMAT } from '../../../src/store/sqlite/schema.ts';
import { runHere } from '../../support/command-line.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { withPast } from '../past/with-past.ts';

const test = suite('store, backup and restore');

/** The refusal of a command that runs in this process. */
async function refusalOf(...args: string[]): Promise<{ code: number; message: string }> {
  try {
    const { code, out } = await runHere(args);
    return { code: code!, message: out };
  } catch (error) {
    const { exitCode = 2, message } = error as Error & { exitCode?: number };
    return { code: exitCode, message };
  }
}

/** Lends a backup of a log that is open, in a folder of its own. */
const withBackup = (
  use: (given: { dir: string; data: string; file: string; close: () => Promise<void> }) => Promise<void>,
) =>
  withTempDir((dir) =>
    withPast(async ({ dir: data, log }) => {
      const file = join(dir, 'log.backup');
      assert.equal((await runHere(['backup', '--data', data, file])).code, 0);
      await use({ dir, data, file, close: () => log.close() });
    }),
  );

test('a damaged backup is refused, and nothing is written', () =>
  withBackup(async ({ dir, file }) => {
    const whole = readFileSync(file);
    const random = createRandom(seedFromEnv());
    const flipped = Array.from({ length: 30 }, (_, index) => {
      const copy = Buffer.from(whole);
      // Every third one in the line at the end.
      const at = index % 3 === 0 ? whole.length - 1 - random.int(0, 90) : random.int(0, whole.length - 1);
      copy[at]! ^= 1 << random.int(0, 7);
      return copy;
    });
    const cut = [0, 1, 50, 4_096, whole.length - 1].map((length) => whole.subarray(0, length));
    const grown = [Buffer.concat([whole, Buffer.from('\n')]), Buffer.concat([whole, whole])];
    const other = join(dir, 'other');
    for (const [index, bytes] of [...flipped, ...cut, ...grown].entries()) {
      const damaged = join(dir, 'damaged');
      writeFileSync(damaged, bytes);
      const { code, message } = await refusalOf('restore', damaged, '--data', other);
      assert.equal(code, 3, `${index}: ${message}`);
      assert.match(message, /nothing was written/);
      assert.equal(existsSync(other), false);
    }
  }));

test('backup and restore overwrite nothing unless they are told to, and a log moves aside', () =>
  withBackup(async ({ dir, data, file, close }) => {
    const names = () => readdirSync(data).sort();
    const before = names();
    const asked = [
      ['backup', '--data', data, file],
      ['restore', file, '--data', data],
      ['backup', '--data', join(dir, 'nowhere'), join(dir, 'other.backup')],
      ['restore', join(dir, 'nowhere'), '--data', join(dir, 'other')],
    ];
    const refusals = await Promise.all(asked.map((args) => refusalOf(...args)));
    assert.deepEqual(
      refusals.map(({ code }) => code),
      [2, 2, 3, 3],
    );
    assert.match(refusals[0]!.message, /log\.backup exists; .* --force/);
    assert.match(refusals[1]!.message, /has a log \(log\.db[^)]*\); .* --force/);
    assert.deepEqual(names(), before);
    assert.deepEqual(
      readdirSync(dir).filter((name) => /other|part/.test(name)),
      [],
    );

    assert.equal((await runHere(['backup', '--data', data, file, '--force'])).code, 0);
    await close();
    const { out } = await runHere(['restore', file, '--data', data, '--force']);
    const [, aside = ''] = /^the log that was there is in (\S+)$/m.exec(out) ?? [];
    assert.ok(aside.startsWith(join(data, 'before-restore-')), out);
    for (const folder of [data, aside]) assert.equal((await runHere(['verify', '--data', folder])).code, 0);
  }));

test('restore refuses a backup of another format with the name of its file, and leaves the folder as it was', () =>
  withBackup(async ({ dir, data, file, close }) => {
    await close();
    const bytes = readFileSync(file);
    const database = Buffer.from(bytes.subarray(0, bytes.lastIndexOf('rewound-backup')));
    // Where SQLite keeps the `user_version`.
    database.writeInt32BE(FORMAT - 1, 60);
    const older = join(dir, 'older.backup');
    writeFileSync(older, database);
    seal(older, () => undefined);
    const before = readdirSync(data).sort();
    const { message } = await refusalOf('restore', older, '--data', data, '--force');
    assert.ok(message.startsWith(`${older}: found a log of format ${FORMAT - 1}, expected`), message);
    assert.deepEqual(readdirSync(data).sort(), before);
  }));

test('restore refuses a folder that a server uses, and exits 3', () =>
  withBackup(async ({ data, file }) => {
    const { code, message } = await refusalOf('restore', file, '--data', data, '--force');
    assert.deepEqual([code, /is in use by another server/.test(message)], [3, true], message);
    assert.deepEqual(
      readdirSync(data).filter((name) => /restor/.test(name)),
      [],
    );
  }));

test.run();
