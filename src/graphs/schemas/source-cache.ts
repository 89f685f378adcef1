/**
 * Caches source reports on disk. A report is valid while every file that its analysis read is unchanged. A server start
 * therefore compiles only sources that have changed.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../kernel/digest.ts';
import type { FileReport, SourceCache, SourceQuery } from './source-report.ts';

interface CacheEntry {
  /** Digests by path; null for a file that was looked up and does not exist. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly report: FileReport;
}

/** Returns the cached report or calls `read`, which must report each path that it reads or misses through `note`. */
export function readThrough(
  { dir, version }: SourceCache,
  query: SourceQuery,
  read: (note: (path: string) => void) => FileReport,
): FileReport {
  const name = sha256(JSON.stringify([version, query.file, query.exportNames]));
  const path = join(dir, `${Buffer.from(name, 'base64').toString('hex')}.json`);
  const kept = load(path);
  if (kept !== undefined) return kept.report;
  const paths = new Set<string>();
  const report = read((file) => paths.add(file));
  keep(dir, path, { files: Object.fromEntries([...paths].map((file) => [file, digestOf(file)])), report });
  return report;
}

function load(path: string): CacheEntry | undefined {
  let kept: CacheEntry;
  try {
    kept = JSON.parse(readFileSync(path, 'utf8')) as CacheEntry;
  } catch {
    return undefined;
  }
  return Object.entries(kept.files).every(([file, digest]) => digestOf(file) === digest) ? kept : undefined;
}

/** Write errors are ignored: the next server start analyses the source again. */
function keep(dir: string, path: string, kept: CacheEntry): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    mkdirSync(dir, { recursive: true });
    writeFileSync(unfinished, JSON.stringify(kept));
    renameSync(unfinished, path);
  } catch {
    return;
  }
}

function digestOf(file: string): string | null {
  try {
    return sha256(readFileSync(file));
  } catch {
    return null;
  }
}
