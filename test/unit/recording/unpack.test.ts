/** A recording may come in a file that anybody made: what is no recording costs an error. */
import assert from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import { FORMAT, packPart, type RecordingPart } from '../../../src/recording/parts.ts';
import { unpackPart, unpackParts } from '../../../src/recording/unpack.ts';
import { suite } from '../../support/suite.ts';

const test = suite('recording/unpack');

const EXCHANGE: RecordingPart = {
  ...{ kind: 'exchange', attempt: 1, task: '1 a', digest: 'd', at: 5, asked: 1 },
  request: { method: 'POST', url: 'http://model/', contentType: 'text/plain', body: Buffer.from('question') },
  answer: { status: 200, headers: [['a', 'b']], body: Buffer.from('answer'), arrival: 2, chunks: [[1, 6]] },
  ended: 4,
};

/** `length` is what the part says of its head. */
function packed(head: string, { length = Buffer.byteLength(head), rest = Buffer.alloc(0) } = {}): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return zstdCompressSync(Buffer.concat([size, Buffer.from(head), rest]));
}
const headOf = (part: object, sizes: unknown = [], format: unknown = FORMAT): string =>
  JSON.stringify({ format, part, sizes });
const clock = (runs: unknown): string =>
  headOf({ kind: 'clock', attempt: 1, lists: [['1 a', 'date', runs]] });

test('a part is unpacked as it was packed', () => {
  assert.deepEqual(unpackPart(packPart(EXCHANGE)), EXCHANGE);
  assert.deepEqual(unpackPart(packed(clock([5, 3]))).kind, 'clock');
});

test('bombs, lies about lengths and foreign shapes are errors that say what is wrong', () => {
  const { request: _, ...rest } = EXCHANGE;
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const cases: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
    'no bytes': [new Uint8Array(), /damaged/],
    'no frame': [Buffer.from('hello'), /damaged/],
    'a bomb': [zstdCompressSync(Buffer.alloc(200_000_000)), /larger than 134217728 bytes/],
    'no length': [zstdCompressSync(Buffer.from('x')), /ends within its head/],
    'a head beyond the end': [packed('{}', { length: 2 ** 32 - 1 }), /ends within its head/],
    'no JSON': [packed('{'), /head of a part is no JSON/],
    null: [packed('null'), /format undefined, expected \d/],
    depth: [packed(`{"format":${FORMAT},"part":${deep},"sizes":[]}`), /nested deeper than/],
    'many values': [
      packed(headOf({ kind: 'store', attempt: 1, requests: Array(1_100_000).fill([]) })),
      /more than 5000000/,
    ],
    'an unknown kind': [packed(headOf({ kind: 'toString', attempt: 1 })), /has the kind toString/],
    'no request': [packed(headOf(rest)), /request of a part: /],
    'bodies beyond the end': [packed(headOf(EXCHANGE, [5, 1e9])), /ends within its bodies/],
    'sizes that are none': [packed(headOf(EXCHANGE, { length: 2 })), /sizes of a part: /],
    'readings without end': [packed(clock([0, 1e15])), /more than 2000000 readings/],
    'endless readings': [
      packed(
        `{"format":${FORMAT},"part":{"kind":"clock","attempt":1,"lists":[["1 a","date",[0,1e999]]]},"sizes":[]}`,
      ),
      /lists.0.2.1 of a part/,
    ],
  };
  for (const [why, [bytes, reason]] of Object.entries(cases))
    assert.throws(() => unpackPart(bytes), reason, why);
});

test('parts are bounded together, too', () => {
  const part = packed(headOf({ kind: 'cut', attempt: 1, maxBytes: 5 }), { rest: Buffer.alloc(120_000_000) });
  assert.throws(() => unpackParts(Array.from({ length: 5 }, () => part)), /larger than 536870912 bytes/);
});

test.run();
