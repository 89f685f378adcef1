/** Watches the system calls that a program makes on its log, and makes them slow or fail. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Why nothing can be traced here; undefined when it can. */
export function straceLacking(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-qq', '-f', '--seccomp-bpf', 'true'], {
    encoding: 'utf8',
  });
  if (error !== undefined) return `strace is not installed (${(error as NodeJS.ErrnoException).code})`;
  return status === 0 ? undefined : `strace may not trace here: ${stderr.trim()}`;
}

export const LOG_CALLS = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate'] as const;

export interface Tracing {
  /** The data directory whose log is watched. */
  readonly data: string;
  /** Prefix of the files that the calls are written to, one for each thread. */
  readonly out: string;
  /** Such as `fsync:error=EIO:when=3`; counted by thread. */
  readonly inject?: readonly string[];
  /** Keep what was written, too. */
  readonly withData?: boolean;
  /** Watch the mark of the log's head, too. */
  readonly withMark?: boolean;
}

/** The words that come before a command. */
export function straceWords({
  data,
  out,
  inject = [],
  withData = false,
  withMark = false,
}: Tracing): string[] {
  // -D: the program stays the child that was started, to be signalled and waited for.
  const options = ['-D', '-ff', '--seccomp-bpf', '-qq', '-ttt', '-T', '-y', '-e', 'signal=none', '-o', out];
  const watched = ['log.db', 'log.db-wal', ...(withMark ? ['log.db-head'] : [])];
  const files = watched.flatMap((name) => ['-P', join(data, name)]);
  const bytes = withData ? ['-xx', '-s', '131072'] : ['-s', '0'];
  const faults = inject.flatMap((fault) => ['-e', `inject=${fault}`]);
  return ['strace', ...options, ...files, '-e', `trace=${LOG_CALLS.join(',')}`, ...bytes, ...faults];
}

export interface Call {
  readonly name: string;
  /** `log.db`, `log.db-wal` or `log.db-head`. */
  readonly file: string;
  /** Milliseconds since 1970, with fractions. */
  readonly began: number;
  readonly ended: number;
  readonly failed: boolean;
  /** Of a write. */
  readonly data: Buffer;
  /** Where a write begins, or the size after a truncation. */
  readonly at: number;
}

const LINE = /^(\d+\.\d+) (\w+)\(\d+<([^>]*)>(?:, "([^"]*)"(?:\.\.\.)?, (\d+))?(?:, (\d+))?\)\s+= (-?\d+).*$/;

/** All calls in order. Throws when more than one thread made some: the log has one writer. */
export function readTrace(out: string): Call[] {
  const threads = readdirSync(dirname(out))
    .filter((name) => name.startsWith(`${basename(out)}.`))
    .map((name) => parseThread(readFileSync(join(dirname(out), name), 'latin1')))
    .filter((calls) => calls.length > 0);
  if (threads.length > 1) throw new Error(`${threads.length} threads wrote to the log`);
  return threads[0] ?? [];
}

const parseThread = (text: string): Call[] =>
  text.split('\n').flatMap((line) => {
    const match = LINE.exec(line);
    if (match === null) return [];
    const [, began, name, path, data = '', , at = '0', result] = match;
    const ms = Number(/<(\d+\.\d+)>$/.exec(line)?.[1] ?? 0) * 1000;
    return [
      {
        name: name!,
        file: basename(decode(path!).toString()),
        began: Number(began) * 1000,
        ended: Number(began) * 1000 + ms,
        failed: Number(result) < 0,
        data: decode(data),
        at: Number(at),
      },
    ];
  });

const decode = (text: string): Buffer =>
  text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text);

export const isSync = ({ name, failed }: Call): boolean =>
  (name === 'fsync' || name === 'fdatasync') && !failed;
