/**
 * SQLite, in the version of its package that this Node can load: the current one rests on what versions of Node have in
 * common, and needs 22; the one before it is compiled for one version, and compiled for later ones it ends the process.
 */
import { createRequire } from 'node:module';
import type Library from 'better-sqlite3';

const name = Number(process.versions.node.split('.')[0]) < 22 ? 'better-sqlite3-node20' : 'better-sqlite3';

export const Database = load();
export type Database = Library.Database;
export type Statement = Library.Statement;

/** npm leaves an optional package out without a word when its binary can be neither downloaded nor compiled. */
function load(): typeof Library {
  try {
    return createRequire(import.meta.url)(name) as typeof Library;
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new Error(
      `SQLite cannot be loaded on Node ${process.version}: ${problem}. Its binary is downloaded or compiled while ` +
        'packages are installed; "npm ci --foreground-scripts" tries again and shows what fails.',
      { cause },
    );
  }
}
