/**
 * Reports on disk. One holds as long as every file that its reading read has the same content, so a source is
 * compiled once for each content of its program, however often the server starts.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../kernel/digest.ts';
import type { FileReport, SourceCache, SourceQuestion } from './source-report.ts';

interface Kept {
  /** Digests by path; null for a file that was looked for and is not there. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly report: FileReport;
}

/** `read` is told where to note the paths of files that it reads or misses. */
export function readThrough(
  { dir, version }: SourceCache,
  question: SourceQuestion,
  read: (note: (path: string) => void) => FileReport,
): FileReport {
  const name = sha256(JSON.stringify([version, question.file, question.exportNames]));
  const path = join(dir, `${Buffer.from(name, 'base64').toString('hex')}.json`);
  const kept = load(path);
  if (kept !== undefined) return kept.report;
  const paths = new Set<string>();
  const report = read((file) => paths.add(file));
  keep(dir, path, { files: Object.fromEntries([...paths].map((file) => [file, digestOf(file)])), report });
  return report;
}

function load(path: string): Kept | undefined {
  let kept: Kept;
  try {
    kept = JSON.parse(readFileSync(path, 'utf8')) as Kept;
  } catch {
    return undefined;
  }
  return Object.entries(kept.files).every(([file, digest]) => digestOf(file) === digest) ? kept : undefined;
}

/** A report that cannot be kept is made again by the next start. */
function keep(dir: string, path: string, kept: Kept): void {
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
