/**
 * What graph code prints. Node hands all that a thread writes in one turn over as one message, in as many chunks as there
 * were writes, and the server's thread takes them up one by one: 300,000 short lines held it for two seconds. Here they
 * are joined, and go in pieces, each when the one before has been passed on.
 *
 * X4 What waits is bounded, because the loop that writes need not look whether anybody keeps up: what comes beyond that is
 * left out, and a line says so in its place. So is what a single text has beyond a bound of its own.
 */
import type { Writable } from 'node:stream';

/** Characters, or bytes, of one message to the server's thread. */
const PIECE = 65_536;
/** What may wait, as long as the next write is still taken: a single large text comes out whole, or nearly. */
const MOST_WAITING = 16 * 2 ** 20;
/** Of one text, in characters or bytes: the server passes all of it on. Nobody reads as much. */
const LONGEST_TEXT = 2 * MOST_WAITING;
/** What a write takes while it waits and as it is joined, besides its text: 70 bytes of heap and a place in some lists. */
const PER_WRITE = 96;

export interface Chunk {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | 'buffer';
}
type Done = (error?: Error | null) => void;

/** What a thread's `process.stdout` and `process.stderr` are. */
export type ThreadOutput = Writable & { _writev(chunks: readonly Chunk[], done: Done): void };

/** Called before any code of the project is there: it may replace `write`, as libraries that capture output do. */
export function limitOutput(stream: ThreadOutput): void {
  const send = stream._writev.bind(stream);
  const write = stream.write.bind(stream) as (...given: readonly unknown[]) => boolean;
  /** That wait, the ones on their way apart. */
  let writes = 0;
  let leftOut = 0;

  function sendPieces({ chunk, encoding }: Chunk, done: Done): void {
    let at = 0;
    const next: Done = (error) => {
      if (error || at >= chunk.length) return done(error);
      const end = endOf(chunk, at);
      const piece = chunk.slice(at, end);
      at = end;
      send([{ chunk: piece, encoding }], next);
    };
    next();
  }

  function takeNote(): Chunk[] {
    const note = leftOut === 0 ? [] : [noteOf(leftOut)];
    leftOut = 0;
    return note;
  }

  stream._writev = (chunks, done) => {
    writes = 0;
    sendPieces(join([...chunks, ...takeNote()]), (error) => {
      // What waits by now came before what was left out.
      if (error || leftOut === 0 || writes > 0) return done(error);
      sendPieces(join(takeNote()), done);
    });
  };

  stream.write = (...given: readonly unknown[]): boolean => {
    const [chunk, ...rest] = given;
    const isFull = stream.writableLength + writes * PER_WRITE > MOST_WAITING;
    if (!isFull || stream.writableEnded || !isText(chunk)) {
      writes += 1;
      if (stream.writableEnded || !isText(chunk) || lengthOf(chunk) <= LONGEST_TEXT) return write(...given);
      writes += 1;
      const beginning = beginningOf(chunk);
      write(beginning, ...rest);
      return write(cutNoteOf(chunk, lengthOf(chunk) - lengthOf(beginning)));
    }
    leftOut += 1;
    const done = rest.find((one) => typeof one === 'function') as Done | undefined;
    if (done !== undefined) process.nextTick(done);
    return !stream.writableNeedDrain;
  };
}

type Text = string | ArrayBufferView;
const isText = (chunk: unknown): chunk is Text => typeof chunk === 'string' || ArrayBuffer.isView(chunk);
const lengthOf = (text: Text): number => (typeof text === 'string' ? text.length : text.byteLength);

/** As long as it may be. Also of hex and base64 that is a whole number of bytes. */
function beginningOf(text: Text): Text {
  if (typeof text === 'string') return text.slice(0, wholeEnd(text, LONGEST_TEXT));
  return Buffer.from(text.buffer, text.byteOffset, LONGEST_TEXT);
}

const cutNoteOf = (text: Text, count: number): string =>
  `… ${count} more ${typeof text === 'string' ? 'characters' : 'bytes'} are left out: the text is too long\n`;

const noteOf = (count: number): Chunk => ({
  chunk: `… ${count} more writes are left out: they came faster than they could be passed on\n`,
  encoding: 'utf8',
});

/** As one text, or as bytes when some of it is not in UTF-8. */
function join(chunks: readonly Chunk[]): Chunk {
  if (chunks.every(({ chunk, encoding }) => typeof chunk === 'string' && /^utf-?8$/i.test(encoding)))
    return { chunk: chunks.map(({ chunk }) => chunk).join(''), encoding: 'utf8' };
  const bytes = chunks.map(({ chunk, encoding }) =>
    typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk,
  );
  // A plain array of bytes: its pieces are copies, of which a message takes no more than them along.
  return { chunk: new Uint8Array(Buffer.concat(bytes)), encoding: 'buffer' };
}

/** Where a piece ends that begins `at`. */
function endOf(chunk: Chunk['chunk'], at: number): number {
  const end = Math.min(at + PIECE, chunk.length);
  return typeof chunk !== 'string' || end === chunk.length ? end : wholeEnd(chunk, end);
}

/** There, or one before it: not within a character that takes two places of a text. */
function wholeEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
