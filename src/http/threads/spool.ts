/**
 * Files of exported threads on their way out of the server and into it. They lie on the disk meanwhile: a slow client
 * then holds neither memory nor a transaction of the log (S3), and a file is checked before anything of it is written.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LogFull } from '../../store/port/log-failures.ts';
import { openGate, type Gate } from '../../kernel/gate.ts';
import type { Ids } from '../../kernel/ids.ts';
import { isDiskFull } from '../../store/port/disk.ts';
import type { ThreadSource } from '../../store/port/thread-source.ts';
import { assertPlain } from '../body.ts';
import { HttpProblem, invalid, tooLarge, tooManyFiles } from '../replies.ts';

/** Of an uploaded file. */
const MAX_FILE_BYTES = 1024 ** 3;
/** Of its records: a small file may unpack to any size, and reading them takes the event loop. */
export const MAX_UNPACKED_BYTES = 4 * 1024 ** 3;

/** Files that are written or read at once. */
const MAX_PLACES = 8;
/** One user leaves places to the others. */
const MAX_PLACES_OF_USER = 4;
/** Files of one user that lie on the disk, also those that slow clients download. */
const MAX_FILES_OF_USER = 16;

/** What carrying threads needs of the server. */
export interface Carriage {
  readonly openSource: (threadId: string) => Promise<ThreadSource>;
  /** Versions of the packages that graphs use. */
  readonly libraries: () => Readonly<Record<string, string>>;
  /**
   * One import at a time, because ids are looked up before they are taken. Users take turns: of each one import waits, and
   * the others behind it. `user`: the caller's identity, undefined without authentication.
   */
  importInTurn<T>(user: string | undefined, work: () => Promise<T>): Promise<T>;
  /** Gives the path of a new file, and a place. Throws a 503 while too many are there, or too many of the user. */
  newFile(user: string | undefined): CarriedFile;
}

export interface CarriedFile {
  readonly path: string;
  /** Frees the place: from now on the file is only sent. */
  spooled(): void;
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
  const users = new Map<string | undefined, { places: number; files: number; readonly gate: Gate }>();
  let places = 0;
  const imports = openGate(1);
  return {
    ...rest,
    importInTurn: (user, work) => users.get(user)!.gate.enter(() => imports.enter(work)),
    newFile(user) {
      const own = users.get(user) ?? { places: 0, files: 0, gate: openGate(1) };
      if (places >= MAX_PLACES || own.places >= MAX_PLACES_OF_USER || own.files >= MAX_FILES_OF_USER)
        throw tooManyFiles();
      makeFolder(folder);
      users.set(user, own);
      places += 1;
      own.places += 1;
      own.files += 1;
      let hasPlace = true;
      const spooled = (): void => {
        if (!hasPlace) return;
        hasPlace = false;
        places -= 1;
        own.places -= 1;
      };
      const path = join(folder, ids.uuid());
      return {
        path,
        spooled,
        async remove() {
          spooled();
          own.files -= 1;
          if (own.files === 0) users.delete(user);
          await rm(path, { force: true });
        },
      };
    },
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw orFull(error);
  }
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
