/** Files that are foreign or damaged are refused by their first read. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { toContainer } from '../../../src/archive/container.ts';
import { FORMAT } from '../../../src/archive/records.ts';
import { openExport } from '../../../src/archive/read.ts';
import { ExportRefused } from '../../../src/archive/refusal.ts';
import { toContent, toFile, toRecords } from '../../support/hostile-files.ts';
import { fact } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { fakeSource, wholeText } from './fake-source.ts';
import { readExport, writeExport } from './file.ts';

const test = suite('archive/container');

const SOURCE = fakeSource(
  [{ kind: 'untracked', runId: 'a', text: wholeText('{"a":1}') }],
  [fact.created({ note: 'x'.repeat(5_000) }), fact.runCreated('a')],
);

async function refusalOf(path: string): Promise<string> {
  try {
    await (await openExport(path)).close();
  } catch (error) {
    assert.ok(error instanceof ExportRefused, String(error));
    return error.message;
  }
  return 'not refused';
}

test('flipped bits anywhere in a file are found', () =>
  withTempDir(async (dir) => {
    const path = join(dir, 'flipped');
    const bytes = await writeExport(path, SOURCE);
    const random = createRandom(1);
    for (let at = 0; at < bytes.length; at += 4) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1 << random.int(0, 7);
      await writeFile(path, flipped);
      assert.match(await refusalOf(path), /damaged|is not an exported thread|has format/, `byte ${at}`);
    }
  }));

test('a file that is cut off anywhere is refused', () =>
  withTempDir(async (dir) => {
    const path = join(dir, 'cut');
    const bytes = await writeExport(path, SOURCE);
    for (let length = 0; length < bytes.length; length += 7) {
      await writeFile(path, bytes.subarray(0, length));
      assert.match(await refusalOf(path), /cut off or damaged|is not an exported thread/, `${length} bytes`);
    }
  }));

test('foreign files and other formats are refused with what was expected', () =>
  withTempDir(async (dir) => {
    const path = join(dir, 'foreign');
    for (const content of [
      '',
      '{"kind":"header"}\n',
      'SQLite format 3\0',
      'rewound-export\n',
      'rewound-export 0\n',
    ])
      assert.match(
        await write(content),
        /foreign is not an exported thread or log: its first line is not "rewound-export 1"/,
      );
    async function write(content: string | Buffer): Promise<string> {
      await writeFile(path, content);
      return refusalOf(path);
    }
    const later: Buffer[] = [];
    for await (const chunk of toContainer(FORMAT + 1, (async function* () {})())) later.push(chunk);
    assert.match(await write(Buffer.concat(later)), /has format 2; this version reads formats up to 1/);
    assert.match(
      await write('rewound-export 1\nand no more'),
      /is cut off or damaged: its last line is not its SHA-256/,
    );
  }));

test('frames and bytes behind the records, and large windows, are refused under a right digest', () =>
  withTempDir(async (dir) => {
    const path = join(dir, 'behind');
    const good = await writeExport(path, SOURCE);
    const records = toContent(toRecords(good));
    const packed = zstdCompressSync(records);
    const params = { [constants.ZSTD_c_windowLog]: 27 };
    const cases: readonly [Buffer, RegExp | undefined][] = [
      [packed, undefined],
      [Buffer.concat([packed, packed]), /\d+ bytes follow the end of its records/],
      [Buffer.concat([packed, Buffer.from('x')]), /1 bytes follow/],
      [Buffer.concat([packed, Buffer.alloc(9)]), /9 bytes follow/],
      [zstdCompressSync(Buffer.alloc(40_000_000), { params }), /damaged: Frame requires too much memory/],
    ];
    for (const [content, reason] of cases) {
      await writeFile(path, toFile(content));
      const reading = readExport(path);
      if (reason === undefined) await reading;
      else
        await assert.rejects(
          reading,
          (error: Error) => error instanceof ExportRefused && reason.test(error.message),
        );
    }
  }));

test('folders, pipes and missing files are no files', () =>
  withTempDir(async (dir) => {
    spawnSync('mkfifo', [join(dir, 'pipe')]);
    for (const path of [dir, join(dir, 'missing'), join(dir, 'pipe'), '/dev/zero'])
      await assert.rejects(openExport(path), { name: 'NoFile' });
  }));

test.run();
