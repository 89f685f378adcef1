/**
 * Files of exported threads on their way out of the server and into it. They lie on the disk meanwhile: a slow client
 * then holds neither memory nor a transaction of the log (S3), and a file is checked before anything of it is written.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LogFull } from '../../actors/log-failures.ts';
import { openGate, type Gate } from '../../kernel/gate.ts';
import type { Ids } from '../../kernel/ids.ts';
import { isDiskFull } from '../../log/disk.ts';
import type { ThreadSource } from '../../log/thread-source.ts';
import { assertPlain } from '../body.ts';
import { HttpProblem, invalid, tooLarge, tooMuchAtOnce } from '../replies.ts';

/** Of an uploaded file. */
export const MAX_FILE_BYTES = 1024 ** 3;
/** Of its records: a small file may unpack to any size, and reading them takes the event loop. */
export const MAX_UNPACKED_BYTES = 4 * 1024 ** 3;

const MAX_FILES = 4;

/** What carrying threads needs of the server. */
export interface Carriage {
  readonly openSource: (threadId: string) => ThreadSource;
  /** Versions of the packages that graphs use. */
  readonly libraries: () => Readonly<Record<string, string>>;
  /** One import at a time: ids are looked up before they are taken. */
  readonly imports: Gate;
  /** Gives the path of a new file. Throws a 503 while `MAX_FILES` are there. */
  newFile(): CarriedFile;
}

export interface CarriedFile {
  readonly path: string;
  /** Removes the file. */
  remove(): Promise<void>;
}

export interface CarriageOptions extends Pick<Carriage, 'openSource' | 'libraries'> {
  /** Files that an earlier process left there are removed. */
  readonly folder: string;
  readonly ids: Ids;
}

export function openCarriage({ folder, ids, ...rest }: CarriageOptions): Carriage {
  rmSync(folder, { recursive: true, force: true });
  let files = 0;
  return {
    ...rest,
    imports: openGate(1),
    newFile() {
      if (files >= MAX_FILES) throw tooMuchAtOnce();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      files += 1;
      const path = join(folder, ids.uuid());
      return {
        path,
        async remove() {
          files -= 1;
          await rm(path, { force: true });
        },
      };
    },
  };
}

/** Turns a full disk into what the server says of one. */
export const orFull = (error: unknown): unknown =>
  isDiskFull(error) ? new LogFull((error as Error).message) : error;

/** Writes a request's body into the file. Throws a 415 for an encoded one and a 413 for one of more than `MAX_FILE_BYTES`. */
export async function receive(request: Request, path: string): Promise<void> {
  assertPlain(request);
  if (Number(request.headers.get('content-length') ?? 0) > MAX_FILE_BYTES) throw tooLarge(MAX_FILE_BYTES);
  if (request.body === null || request.bodyUsed) throw invalid('body: expected an exported thread');
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_FILE_BYTES) throw tooLarge(MAX_FILE_BYTES);
      await file.writeFile(chunk);
    }
  } catch (error) {
    if (error instanceof HttpProblem || (error as NodeJS.ErrnoException).syscall === 'write') throw error;
    // The client disconnected and never reads this reply; as a 422 it is not logged as a server fault.
    throw invalid(`body: the connection ended after ${bytes} bytes`);
  } finally {
    await file.close();
  }
}
