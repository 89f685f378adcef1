import assert from 'node:assert/strict';
import { createDecoder, encode, MAX_MESSAGE_BYTES, type Message } from '../../../src/workers/frame.ts';
import { createHeartbeatReader, encodeHeartbeat, type Heartbeat } from '../../../src/workers/heartbeat.ts';
import fc from '../../support/properties.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/frame');

const message = fc.record({
  stream: fc.nat({ max: 2 ** 32 - 1 }),
  type: fc.nat({ max: 255 }),
  head: fc.dictionary(
    fc.string({ unit: 'binary' }).filter((key) => key !== '__proto__'),
    fc.string({ unit: 'grapheme' }),
  ),
  blobs: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }),
});

test('messages arrive whole and in order, however their bytes are cut', () =>
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.nat()), (sent, cuts) => {
      const arrived: Message[] = [];
      const decode = createDecoder((each) => arrived.push(each));
      let rest: Buffer = Buffer.concat(sent.map(encode));
      for (const cut of cuts) {
        const at = rest.length === 0 ? 0 : cut % rest.length;
        decode(rest.subarray(0, at));
        rest = rest.subarray(at);
      }
      decode(rest);
      assert.deepEqual(arrived.map(plain), sent.map(plain));
    }),
  ));

test('a message may be split at every byte, and have empty blobs', () => {
  const sent = { stream: 7, type: 20, head: { events: ['values'] }, blobs: ['', '{"ü":1}', ''] };
  const arrived: Message[] = [];
  const decode = createDecoder((each) => arrived.push(each));
  for (const byte of encode(sent)) decode(Buffer.from([byte]));
  assert.deepEqual(arrived, [sent]);
});

test('bytes that are no message are a protocol error', () => {
  const broken = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = encode({ stream: 1, type: 1, head: {}, blobs: ['x'] });
    change(bytes);
    return bytes;
  };
  for (const bytes of [
    broken((b) => b.writeUInt32BE(MAX_MESSAGE_BYTES + 1, 0)),
    broken((b) => b.writeUInt32BE(2, 0)),
    broken((b) => b.writeUInt8(1, 9)),
    broken((b) => b.writeUInt16BE(60_000, 10)),
    broken((b) => b.writeUInt32BE(1_000, 12)),
    broken((b) => b.write('[', 16)),
  ])
    assert.throws(() => createDecoder(() => undefined)(bytes), { name: 'WorkerProtocol' });
});

test('a message over the limit is refused where it is sent', () => {
  const blob = 'x'.repeat(MAX_MESSAGE_BYTES / 2);
  assert.throws(() => encode({ stream: 1, type: 1, head: {}, blobs: [blob, blob] }), {
    name: 'ValueTooLarge',
  });
});

test('beats arrive however their bytes are cut', () => {
  const heartbeat: Heartbeat = { stalledMs: 5_000, busyPermille: 999, rss: 2 ** 40, ownMs: 2 ** 41 };
  const arrived: Heartbeat[] = [];
  const read = createHeartbeatReader((each) => arrived.push(each));
  for (const byte of Buffer.concat([
    encodeHeartbeat(heartbeat),
    encodeHeartbeat({ ...heartbeat, stalledMs: 2 }),
  ]))
    read(Buffer.from([byte]));
  assert.deepEqual(arrived, [heartbeat, { ...heartbeat, stalledMs: 2 }]);
});

/** Without the prototype that the parser gives objects. */
const plain = (each: Message): Message => JSON.parse(JSON.stringify(each)) as Message;

test.run();
