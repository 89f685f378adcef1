/** Runs and threads that commands are about: of the log, or of exported files, which become logs of their own. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../kernel/clock.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { History } from '../store/port/past.ts';
import type { Host } from './host.ts';
import { openPast, type DataOptions } from './options.ts';

export const TARGET =
  'a run or thread, or an exported file, or FILE:RUN; the first characters of an id are enough';

export interface Target {
  /** R1 Opens the log read-only; the caller closes it. */
  open(): Promise<History>;
  /** Beginning of the run's or thread's id; undefined for the thread of a file. */
  readonly name: string | undefined;
  /** Absolute path of the exported file that it is of. */
  readonly file?: string | undefined;
}

const ID = /^[0-9a-f][0-9a-f-]{3,35}…?$/i;
/** A run's id may follow the name of a file. */
const FILE = /^(.*?)(?::([0-9a-f-]{4,36}…?))?$/i;

/** Lends the targets; the logs of exported files go at the end. */
export async function withTargets<T>(
  given: readonly string[],
  options: DataOptions,
  host: Host,
  use: (targets: readonly Target[]) => Promise<T>,
): Promise<T> {
  const named = given.map((text) => {
    const [, file = '', name] = FILE.exec(text) ?? [];
    const path = resolve(host.cwd, file);
    if (existsSync(path)) return { path, name };
    if (!ID.test(text))
      throw new Unavailable(`"${text}" is no file that exists, and no id of a run or thread`);
    return { path: undefined, name: text };
  });
  const files = named.flatMap(({ path }) => path ?? []);
  const lend = (stores: readonly { openPast(): Promise<History> }[]): Promise<T> => {
    const imported = [...stores];
    return use(
      named.map(({ path, name }) => {
        const store = path === undefined ? undefined : imported.shift()!;
        return { name, file: path, open: () => store?.openPast() ?? openPast(options, host) };
      }),
    );
  };
  if (files.length === 0) return lend([]);
  const { withImported } = await import('./scratch-store.ts');
  return withImported(files, systemClock(), (text) => host.printError(String(text)), lend);
}

/** Lends the logs of targets, and closes them. */
export async function withLogs<T>(
  targets: readonly Target[],
  use: (logs: readonly { readonly history: History; readonly name: string | undefined }[]) => Promise<T>,
): Promise<T> {
  const logs: { readonly history: History; readonly name: string | undefined }[] = [];
  try {
    for (const { open, name } of targets) logs.push({ history: await open(), name });
    return await use(logs);
  } finally {
    for (const { history } of logs) await history.close();
  }
}
