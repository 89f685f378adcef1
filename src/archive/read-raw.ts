/** Reads the heads and bodies of the records of an exported file. */
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import { findFaultIn } from '../kernel/json-scan.ts';
import { startTurn } from '../kernel/turn.ts';
import { RECORD_LIMITS, type Scope } from './limits.ts';
import type { ExportRefused } from './refusal.ts';

const LINE_FEED = 0x0a;

/** One buffer for all long bodies of a file: each of its own would wait for the garbage collector. */
export function openScratch(): (length: number) => Buffer {
  let held = Buffer.alloc(0);
  return (length) => {
    if (held.length < length) held = Buffer.allocUnsafeSlow(Math.max(length, 2 * held.length));
    return held.subarray(0, length);
  };
}

export interface RawRecord {
  readonly head: JsonObject;
  /** Valid until the next record is read. */
  readonly content: Buffer | undefined;
}

interface RawOptions {
  readonly scratch: (length: number) => Buffer;
  readonly refusal: (reason: string) => ExportRefused;
  readonly scope: Scope;
  readonly onBytes: ((bytes: number) => void) | undefined;
}

export async function* readRaw(
  chunks: AsyncIterable<Buffer>,
  { scratch, refusal, scope, onBytes }: RawOptions,
): AsyncGenerator<RawRecord> {
  const limits = RECORD_LIMITS[scope];
  let held: Buffer = Buffer.alloc(0);
  let at = 0;
  let bytes = 0;
  const source = chunks[Symbol.asyncIterator]();
  async function pull(): Promise<Buffer | undefined> {
    const { done, value } = await source.next();
    if (done) return undefined;
    onBytes?.((bytes += value.length));
    return value;
  }
  /** Undefined at the end. */
  async function readLine(): Promise<string | undefined> {
    for (;;) {
      const found = held.indexOf(LINE_FEED, at);
      const length = (found < 0 ? held.length : found) - at;
      if (length > limits.maxHeadBytes)
        throw refusal(`a record begins with no line of JSON of at most ${limits.maxHeadBytes} bytes`);
      if (found >= 0) {
        const line = held.toString('utf8', at, found);
        at = found + 1;
        return line;
      }
      const more = await pull();
      if (more === undefined) {
        if (at < held.length) throw refusal('it ends within a record');
        return undefined;
      }
      held = at === held.length ? more : Buffer.concat([held.subarray(at), more]);
      at = 0;
    }
  }
  async function readBody(length: number): Promise<Buffer> {
    if (held.length - at >= length) return held.subarray(at, (at += length));
    const content = scratch(length);
    for (let filled = 0; ;) {
      const copied = held.copy(content, filled, at, at + length - filled);
      filled += copied;
      at += copied;
      if (filled === length) return content;
      const more = await pull();
      if (more === undefined) throw refusal('it ends within a record');
      held = more;
      at = 0;
    }
  }
  const turn = startTurn();
  try {
    for (let line = await readLine(); line !== undefined; line = await readLine()) {
      await turn();
      const fault = findFaultIn(line, limits.head);
      if (fault !== undefined) throw refusal(`the head of a record is ${fault.reason}`);
      const head: unknown = JSON.parse(line);
      if (!isObject(head)) throw refusal('the head of a record is no object');
      const length = head['bytes'];
      if (length === undefined) {
        yield { head, content: undefined };
        continue;
      }
      if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0)
        throw refusal(`a record of ${JSON.stringify(length)} bytes`);
      if (length > limits.maxBodyBytes)
        throw refusal(`a record of ${length} bytes, where at most ${limits.maxBodyBytes} were expected`);
      const content = await readBody(length + 1);
      if (content[length] !== LINE_FEED) throw refusal('no line feed follows the body of a record');
      yield { head, content: content.subarray(0, -1) };
    }
  } finally {
    await source.return?.();
  }
}
