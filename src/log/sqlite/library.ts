/**
 * SQLite, in the version of its package that this Node can load: the current one rests on what versions of Node have in
 * common, and needs 22; the one before it is compiled for one version, and compiled for later ones it ends the process.
 */
import { createRequire } from 'node:module';
import type Library from 'better-sqlite3';

const isOld = Number(process.versions.node.split('.')[0]) < 22;

export const Database = createRequire(import.meta.url)(
  isOld ? 'better-sqlite3-node20' : 'better-sqlite3',
) as typeof Library;
export type Database = Library.Database;
export type Statement = Library.Statement;
