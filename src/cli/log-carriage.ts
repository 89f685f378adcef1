/** A whole log into one file, and out of one file into a new log: the rest of `export` and `import`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import type { OnProgress } from '../kernel/progress.ts';
import { PRODUCT } from '../kernel/product.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { Store } from '../open-store.ts';
import { CommandFailed, EXIT_USAGE } from './exit-codes.ts';

interface LogExport {
  readonly store: Store;
  /** Keys are in hexadecimal digits; the first one seals. */
  readonly keys: readonly string[];
  /** Without a key secrets are written as they are. */
  readonly withSecrets: boolean;
  readonly clock: Clock;
  readonly onProgress: OnProgress;
}

/** Lends the bytes of the file. */
export async function withExportedLog<T>(
  { store, keys, withSecrets, clock, onProgress }: LogExport,
  use: (chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const { exportLog } = await import('../archive/write-log.ts');
  const { createSeal } = await import('../archive/seal.ts');
  const source = await store.openLogSource();
  try {
    const [key] = keys;
    if (key === undefined && !withSecrets && (await source.hasSecrets()))
      throw new CommandFailed(
        EXIT_USAGE,
        'export: open runs or crons keep secrets, and there is no PLATFORM_ENCRYPTION_KEY to seal them under; ' +
          'set one, or write them as they are with --with-secrets',
      );
    const total = await source.size();
    return await use(
      exportLog(source, {
        ...{ exportedAt: clock.now(), seal: key === undefined ? undefined : createSeal(key) },
        onBytes: (done) =>
          onProgress({ phase: 'exporting', done, total: Math.max(done, total), unit: 'bytes' }),
      }),
    );
  } finally {
    await source.close();
  }
}

interface LogImportCommand {
  readonly store: Store;
  readonly keys: readonly string[];
  readonly clock: Clock;
  readonly onProgress: OnProgress;
  readonly onWarning: (text: string) => void;
}

export interface ImportedHere {
  readonly events: number;
  readonly streams: number;
  /** `verify` found this wrong with the new log. */
  readonly problem: string | undefined;
}

export async function importLogHere(
  path: string,
  { store, keys, clock, onProgress, onWarning }: LogImportCommand,
): Promise<ImportedHere> {
  const { openLogExport } = await import('../archive/read.ts');
  const { checkLog, importLog } = await import('../archive/import-log.ts');
  const { createUnseal } = await import('../archive/seal.ts');
  const file = await openLogExport(path);
  const how = { clock, unseal: createUnseal(keys), onProgress };
  try {
    const bytes = await checkLog(file, how);
    const into = await store.openLogImport({
      clock,
      onFault: (error) => onWarning(String(error)),
      onWarning,
    });
    const imported = await importLog(into.log, file, bytes, how).catch(async (error: unknown) => {
      await into.log.close();
      throw error;
    });
    await into.complete();
    return { ...imported, problem: await verifyHere(store, onProgress) };
  } finally {
    await file.close();
  }
}

async function verifyHere(store: Store, onProgress: OnProgress): Promise<string | undefined> {
  const { verify } = await import('../past/verify/verify.ts');
  const history = await store.openPast();
  try {
    const { finding } = await verify(history, onProgress);
    return finding && `position ${finding.position ?? 'none'}: ${finding.problem}`;
  } finally {
    await history.close();
  }
}

/** Lends the path of a file with what standard input has: a file is checked before anything of it is written. */
export async function withSpooled<T>(
  input: AsyncIterable<Uint8Array>,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const { writeFile } = await import('../archive/to-file.ts');
  const folder = await mkdtemp(join(tmpdir(), `${PRODUCT}-`));
  try {
    const path = join(folder, 'standard-input');
    const bytes = await writeFile(path, input, { replace: false });
    if (bytes === 0) throw new Unavailable('standard input was empty: see what the command before it said');
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
