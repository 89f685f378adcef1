/** Large files of strangers: what they cost the server that takes them. */
import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { withPrograms } from '../e2e/programs.ts';
import { counted, toContent, toFile, toRecords, type RawRecord } from '../support/hostile-files.ts';
import { suite } from '../support/suite.ts';

const test = suite('faults: large files of strangers');

const MAX_GROWTH_MB = 300;
const MAX_BODY = 24 * 2 ** 20;

const peakMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

const text = (body: string): Buffer => Buffer.from(body);
const filled = (unit: string): Buffer => text(`"${unit.repeat((MAX_BODY - 2) / Buffer.byteLength(unit))}"`);

/** What stands at the value of a file that is right otherwise; true: it is imported. */
const VALUES: Readonly<
  Record<string, readonly [make: () => readonly [head: object, body: Buffer][], isTaken: boolean]>
> = {
  'lists without end': [() => [[{}, text(`[${'[],'.repeat(20_000_000)}0]`)]], false],
  'members without end': [
    () => [[{}, text(`{${Array.from({ length: 4_000_000 }, (_, at) => `"${at}":0`).join(',')}}`)]],
    false,
  ],
  'a number without end': [() => [[{}, Buffer.alloc(MAX_BODY, '1')]], false],
  'depth without end': [() => [[{}, Buffer.alloc(MAX_BODY, '[')]], false],
  'a body beyond the limit': [() => [[{}, Buffer.alloc(MAX_BODY + 1, ' ')]], false],
  'the longest text': [() => [[{}, filled('x')]], true],
  'the longest text of two bytes a unit': [() => [[{}, text(`"é${'x'.repeat(MAX_BODY - 4)}"`)]], true],
  'the longest text completed from itself': [
    () => [
      [{}, text(`"${'x'.repeat(MAX_BODY - 1000)}"`)],
      [{ version: '2', splice: { of: 1, head: 1, start: 1, kept: MAX_BODY - 1000 } }, text('""')],
    ],
    false,
  ],
};

test('no value of a file lifts the memory of the server by more than 300 MB', () =>
  withPrograms(async ({ serve }) => {
    // Given a server, and a thread's file that is right
    const server = await serve();
    const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
    const ran = { assistant_id: 'steps', input: {}, config: { configurable: { count: 1 } } };
    await server.ask('POST', `/threads/${thread}/runs/wait`, ran);
    const records = toRecords(await (await server.open('GET', `/threads/${thread}/export`)).bytes());
    const at = records.findIndex(({ head }) => head['kind'] === 'value');
    const { splice: _, ...head } = records[at]!.head;
    const before = peakMb(server.pid);
    for (const [name, [make, isTaken]] of Object.entries(VALUES)) {
      // When it comes with another value
      const values = make().map(([more, body]): RawRecord => ({ head: { ...head, ...more }, body }));
      const content = toContent(counted(records.toSpliced(at, 1, ...values)));
      const response = await fetch(`${server.url}/threads/import?new_id=true`, {
        ...{ method: 'POST', body: new Uint8Array(toFile(zstdCompressSync(content))) },
      });
      const answer = await response.text();
      // Then the server takes or refuses it, and its memory stays bounded
      assert.equal(response.status, isTaken ? 200 : 422, `${name}: ${answer.slice(0, 300)}`);
      const grown = peakMb(server.pid) - before;
      console.log(name, Math.round(grown), 'MB');
      assert.ok(grown < MAX_GROWTH_MB, `${name}: ${grown} MB`);
    }
    assert.equal(await server.end('SIGTERM'), 0, server.output());
  }));

test.run();
