/**
 * Binary encoding of the messages between the server and a graph worker. All integers are big-endian.
 *
 *     0  u32  length   bytes after this field
 *     4  u32  stream   a run attempt or a graph query; 0 is the connection itself
 *     8  u8   type     `TYPE` in messages.ts
 *     9  u8   flags    0
 *    10  u16  blobs    number n of blobs
 *    12  u32 × n       length of each blob in bytes
 *        head, JSON in UTF-8
 *        n blobs, in order, up to the end
 *
 * Blobs are not parsed: frame data and channel values are already serialized.
 */

export interface Message {
  readonly stream: number;
  readonly type: number;
  /** Parsed JSON object; messages.ts documents its shape for each type. */
  readonly head: any;
  readonly blobs: readonly string[];
}

/** Received bytes violate the format. The connection cannot continue. */
class ProtocolError extends Error {
  override readonly name = 'WorkerProtocol';
}

/** A message exceeds `MAX_MESSAGE_BYTES` or 65,535 blobs. Only the run that sends it fails. */
class ValueTooLarge extends Error {
  override readonly name = 'ValueTooLarge';
}

export const MAX_MESSAGE_BYTES = 256 * 2 ** 20;
const MAX_BLOBS = 65_535;
const FIXED_BYTES = 12;

/** Throws `ValueTooLarge`. */
export function encode({ stream, type, head, blobs }: Message): Buffer {
  if (blobs.length > MAX_BLOBS)
    throw new ValueTooLarge(`A message has ${blobs.length} values; expected ${MAX_BLOBS} at most`);
  const text = JSON.stringify(head);
  const sizes = blobs.map((blob) => Buffer.byteLength(blob));
  const headBytes = Buffer.byteLength(text);
  const total = sizes.reduce((sum, size) => sum + size, FIXED_BYTES + 4 * blobs.length + headBytes);
  if (total > MAX_MESSAGE_BYTES)
    throw new ValueTooLarge(`A message has ${total} bytes; expected ${MAX_MESSAGE_BYTES} at most`);
  const bytes = Buffer.allocUnsafe(total);
  let at = bytes.writeUInt32BE(total - 4, 0);
  at = bytes.writeUInt32BE(stream, at);
  at = bytes.writeUInt8(type, at);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt16BE(blobs.length, at);
  for (const size of sizes) at = bytes.writeUInt32BE(size, at);
  at += bytes.write(text, at);
  for (const blob of blobs) at += bytes.write(blob, at);
  return bytes;
}

/**
 * Returns a function that takes bytes as they arrive and calls `onMessage` per message. It returns true when the bytes end
 * within a message, and throws `ProtocolError`.
 */
export function createDecoder(onMessage: (message: Message) => void): (bytes: Buffer) => boolean {
  let parts: Buffer[] = [];
  let waiting = 0;
  /** Bytes of the first incomplete message that must arrive before decoding can continue. */
  let needed = 4;

  return (bytes) => {
    parts.push(bytes);
    waiting += bytes.length;
    if (waiting < needed) return true;
    let rest = parts.length === 1 ? bytes : Buffer.concat(parts, waiting);
    for (;;) {
      needed = 4;
      if (rest.length < needed) break;
      needed = 4 + rest.readUInt32BE(0);
      if (needed > MAX_MESSAGE_BYTES || needed < FIXED_BYTES)
        throw new ProtocolError(`a message has ${needed} bytes`);
      if (rest.length < needed) break;
      onMessage(decode(rest.subarray(0, needed)));
      rest = rest.subarray(needed);
    }
    parts = rest.length === 0 ? [] : [rest];
    waiting = rest.length;
    return waiting > 0;
  };
}

function decode(bytes: Buffer): Message {
  const stream = bytes.readUInt32BE(4);
  const type = bytes.readUInt8(8);
  if (bytes.readUInt8(9) !== 0) throw new ProtocolError('a message has unknown flags');
  const count = bytes.readUInt16BE(10);
  const start = FIXED_BYTES + 4 * count;
  if (start > bytes.length) throw new ProtocolError('a message is shorter than its list of blobs');
  const blobs: string[] = [];
  const sizes = Array.from({ length: count }, (_, index) => bytes.readUInt32BE(FIXED_BYTES + 4 * index));
  let at = bytes.length - sizes.reduce((sum, size) => sum + size, 0);
  if (at < start) throw new ProtocolError('a message is shorter than its blobs');
  const text = bytes.toString('utf8', start, at);
  for (const size of sizes) blobs.push(bytes.toString('utf8', at, (at += size)));
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch {
    head = undefined;
  }
  if (typeof head !== 'object' || head === null)
    throw new ProtocolError('the head of a message is no object');
  return { stream, type, head, blobs };
}
