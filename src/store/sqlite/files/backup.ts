/**
 * Copies a log into one file, beside a running server too. All pages are read in one transaction: what a server commits
 * meanwhile neither shows nor makes the copy begin again.
 */
import { Unavailable } from '../../../kernel/unavailable.ts';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OnProgress } from '../../../kernel/progress.ts';
import { startTurn } from '../../../kernel/turn.ts';
import { makePrivate, syncFolder, toWriteFailure } from '../../port/disk.ts';
import { seal } from './backup-file.ts';
import { openConnection } from '../connection.ts';
import { headPosition } from '../../sql/event-store.ts';
import { CONTENT_TABLES, findBadRow } from '../../sql/past/checksums.ts';
import { LOG_FILE } from '../log.ts';
import { assertFormat } from '../schema.ts';
import { createStatements, type Prepare } from '../statements.ts';

export interface BackedUp {
  readonly file: string;
  /** The last position that the backup has. */
  readonly position: number;
  /** Size of the file. */
  readonly bytes: number;
}

export interface BackupOptions {
  /** Replaces a file that is there already. */
  readonly force: boolean;
  readonly onProgress: OnProgress;
}

/** Pages of one step, 8 MiB: the process answers signals and shows progress in between. */
const STEP_PAGES = 2_048;

/**
 * Throws when there is no log, and when the file is there already; `DiskFailed` when the disk does not take the file. A file
 * that it cannot finish it removes.
 */
export async function backUp(dir: string, file: string, options: BackupOptions): Promise<BackedUp> {
  if (!options.force && existsSync(file))
    throw new Error(`${file} exists; name another file, or replace it with --force`);
  const log = join(dir, LOG_FILE);
  if (!existsSync(log)) throw new Unavailable(`${log} does not exist`);
  const partial = `${file}.part-${process.pid}`;
  const db = openConnection(log, { readonly: true });
  try {
    assertFormat(db);
    db.exec('BEGIN');
    const prepare = createStatements(db);
    const position = prepare.driver.run(headPosition());
    await assertContent(prepare, options.onProgress);
    makePrivate(partial);
    await db.backup(partial, {
      progress({ totalPages, remainingPages }) {
        const [done, total] = [totalPages - remainingPages, totalPages];
        options.onProgress({ phase: 'copying pages', done, total, unit: 'pages' });
        return STEP_PAGES;
      },
    });
    dropAnswers(partial);
    const { bytes } = seal(partial, options.onProgress);
    renameSync(partial, file);
    syncFolder(dirname(file));
    return { file, position, bytes };
  } catch (error) {
    throw toWriteFailure(file, error);
  } finally {
    db.close();
    for (const rest of ['', '-journal', '-wal', '-shm']) rmSync(`${partial}${rest}`, { force: true });
  }
}

/** X7 Answers are for the next attempts of runs that are open now: a restored run asks again. */
function dropAnswers(file: string): void {
  const db = openConnection(file);
  try {
    db.exec('DELETE FROM resume_calls');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** A copy of damaged content would replace a good one. */
async function assertContent({ driver }: Prepare, onProgress: OnProgress): Promise<void> {
  const { run, context } = driver;
  const turn = startTurn();
  for (const [done, table] of CONTENT_TABLES.entries()) {
    onProgress({ phase: 'checking content', done, total: CONTENT_TABLES.length, unit: 'tables' });
    const finding = run(findBadRow(context, table));
    if (finding !== undefined) throw new Unavailable(`nothing was written: ${finding.problem}`);
    await turn();
  }
}
