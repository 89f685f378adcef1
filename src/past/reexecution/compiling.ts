/**
 * Compiles for a process that may load no addons: it writes its requests to a pipe and waits for the answers, because Node
 * loads modules synchronously. A message is the length of its JSON text, then the text. The process also tells on this pipe
 * what it was refused after a run, for its exit handlers can send no other message.
 */
import { readSync, writeSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { compiler, loadCompiler, type Compiler } from '../../graphs/modules/compiler.ts';

/** The pipe's descriptor in the closed process. */
const PIPE_FD = 4;

type Request =
  { readonly name: keyof Compiler; readonly args: readonly unknown[] } | { readonly late: string };

const HEAD_BYTES = 4;

function toFrame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text]);
}

function write(message: Request): void {
  const frame = toFrame(message);
  for (let at = 0; at < frame.length;) at += writeSync(PIPE_FD, frame, at);
}

function read(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at < bytes;) {
    const count = readSync(PIPE_FD, buffer, at, bytes - at, null);
    if (count === 0) throw new Error('the process that compiles has ended');
    at += count;
  }
  return buffer;
}

function ask(name: keyof Compiler, args: readonly unknown[]): any {
  write({ name, args });
  const { result, error } = JSON.parse(read(read(HEAD_BYTES).readUInt32BE()).toString());
  if (error !== undefined) throw new Error(error);
  return result;
}

/** The compiler of the closed process. */
export const distantCompiler: Compiler = {
  transformSync: (...args) => ask('transformSync', args),
  moduleRunnerTransformSync: (...args) => ask('moduleRunnerTransformSync', args),
};

export const tellLate = (late: string): void => write({ late });

/** Serves a closed process; `onLate` gets what it was refused after a run. */
export function serveCompiler(pipe: Duplex, onLate: (what: string) => void): void {
  let rest = Buffer.alloc(0);
  const loaded = loadCompiler();
  pipe.on('error', () => undefined);
  pipe.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUInt32BE()) {
      const end = HEAD_BYTES + rest.readUInt32BE();
      const request = JSON.parse(rest.toString('utf8', HEAD_BYTES, end)) as Request;
      rest = rest.subarray(end);
      if ('late' in request) onLate(request.late);
      else void loaded.then(() => pipe.write(toFrame(answer(request))));
    }
  });
}

function answer({ name, args }: Extract<Request, { name: unknown }>): object {
  try {
    return { result: (compiler()[name] as (...args: readonly unknown[]) => unknown)(...args) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
