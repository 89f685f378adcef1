/** What is written into a file is what is read of it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ReadRecord } from '../../../src/archive/read.ts';
import type { SourcePayload } from '../../../src/store/port/thread-source.ts';
import { fact } from '../../support/given.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { fakeSource, wholeText } from './fake-source.ts';
import { readExport, writeExport } from './file.ts';

const test = suite('archive/round-trip');

/** Any text at all: halves of surrogate pairs, NUL, line ends and separators among them. */
const anyText = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udc00', '\0', '\n', '\u2028')),
});
const anyJson = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value));
const oddJson = fc.oneof(
  anyJson,
  anyText.map((text) => JSON.stringify({ text })),
  fc.constantFrom(
    '1e308',
    '-0',
    '123456789012345678901234567890',
    '{"__proto__":{"a":1}}',
    '"\\ud800"',
    '{"":{"$":"x"}}',
  ),
);
const anyName = fc.oneof(anyText, fc.constantFrom('', '__proto__', 'messages', 'a|b:c'));
const runId = fc.constantFrom('a', 'b');
const time = fc.integer({ min: 0, max: 8_640_000_000_000 });

const payload: fc.Arbitrary<SourcePayload> = fc.oneof(
  fc
    .tuple(runId, anyName, anyName, anyName, oddJson)
    .map(
      ([run, ns, channel, version, data]) =>
        ({ kind: 'value', runId: run, ns, channel, version, text: wholeText(data) }) as const,
    ),
  fc.tuple(runId, anyName, anyName, time, oddJson, fc.array(anyName)).map(
    ([run, ns, checkpointId, at, data, valueChannels]) =>
      ({
        kind: 'checkpoint',
        ...{ runId: run, ns, checkpointId, parentId: null, at, lastFrame: null },
        ...{ metadata: { data }, channelVersions: { messages: '1' }, valueChannels, text: wholeText(data) },
      }) as const,
  ),
  fc.tuple(runId, anyName, anyName, anyName, fc.nat(), oddJson).map(
    ([run, ns, checkpointId, taskId, idx, data]) =>
      ({
        kind: 'write',
        ...{ runId: run, ns, checkpointId, taskId, taskPath: '~0', idx },
        ...{ channel: 'messages', text: wholeText(data) },
      }) as const,
  ),
  fc
    .tuple(runId, oddJson)
    .map(([run, data]) => ({ kind: 'untracked', runId: run, text: wholeText(data) }) as const),
  fc
    .tuple(runId, oddJson)
    .map(([run, data]) => ({ kind: 'calls', runId: run, text: wholeText(data) }) as const),
  fc.tuple(runId, fc.uint8Array()).map(([run, bytes]) => ({ kind: 'recording', runId: run, bytes }) as const),
);

const contentOf = async (of: SourcePayload): Promise<string | Uint8Array> =>
  of.kind === 'recording' ? of.bytes : of.text.whole();
const payloadsOf = (records: readonly ReadRecord[]) => records.filter((record) => record.kind === 'payload');

test('payloads of any texts, names and bytes are read as they were written', () =>
  withTempDir((dir) =>
    fc.assert(
      fc.asyncProperty(fc.array(payload), async (payloads) => {
        const path = join(dir, 'any');
        await writeExport(path, fakeSource(payloads));
        const read = payloadsOf(await readExport(path));
        assert.deepEqual(
          read.map(({ of, head, content }) => [of, head.run, content]),
          await Promise.all(payloads.map(async (each) => [each.kind, each.runId, await contentOf(each)])),
        );
        for (const [index, { head }] of read.entries()) {
          const written = payloads[index]!;
          if (written.kind === 'value')
            assert.deepEqual(
              [head['ns'], head['channel'], head['version']],
              [written.ns, written.channel, written.version],
            );
          if (written.kind === 'checkpoint')
            assert.deepEqual(
              [head['metadata'], head['valueChannels'], head['at']],
              [written.metadata, written.valueChannels, written.at],
            );
        }
      }),
      { numRuns: 60 },
    ),
  ));

test('texts that are stored as differences are read whole', () =>
  withTempDir(async (dir) => {
    const texts = ['["a"]', '["a","b"]', '["x","a","b"]'];
    const value = (index: number, text: object): SourcePayload =>
      ({ kind: 'value', runId: 'a', ns: '', channel: 'c', version: String(index), text }) as SourcePayload;
    const whole = (index: number) => () => texts[index]!;
    const payloads = [
      value(0, { data: texts[0], key: 'k0', whole: whole(0) }),
      value(1, {
        data: ',"b"]',
        key: 'k1',
        splice: { base: 'k0', head: 0, start: 0, kept: 4 },
        whole: whole(1),
      }),
      value(2, {
        data: '["x",',
        key: 'k2',
        splice: { base: 'k1', head: 5, start: 1, kept: 8 },
        whole: whole(2),
      }),
      // Its base is in no record: the text is written whole.
      value(3, { data: '', splice: { base: 'elsewhere', head: 0, start: 0, kept: 5 }, whole: whole(0) }),
    ];
    const path = join(dir, 'spliced');
    await writeExport(path, fakeSource(payloads));
    const read = payloadsOf(await readExport(path)).map(({ content }) => content);
    assert.deepEqual(read, [...texts, texts[0]]);
  }));

test('A4 an export has no webhook addresses', () =>
  withTempDir(async (dir) => {
    const kwargs = {
      input: null,
      config: {},
      streamMode: [],
      streamSubgraphs: false,
      webhook: 'https://x/secret',
    };
    const path = join(dir, 'quiet');
    await writeExport(path, fakeSource([], [fact.created(), fact.runCreated('a', { kwargs })]));
    const text = JSON.stringify(await readExport(path));
    assert.ok(!text.includes('secret'));
    assert.ok(text.includes('RunCreated'));
  }));

test.run();
