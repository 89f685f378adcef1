/** Checks that test titles are unique in the repository, so that each title identifies one test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineOf, maskSource, readLiteral } from './source.ts';

const TEST = /(?<![.\w$])test(?:\.only|\.skip)?\(\s*(?=['"`])/g;

export interface Titled {
  readonly title: string;
  readonly file: string;
  readonly line: number;
}

/** Returns every test below `test` with a literal title. */
export function readTitles(root: string): Titled[] {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort();
  return files.flatMap((name) => {
    if (!name.endsWith('.ts') || name.includes('node_modules')) return [];
    const text = readFileSync(join(root, 'test', name), 'utf8');
    const code = maskSource(text);
    return [...code.matchAll(TEST)].map((found) => {
      const offset = found.index + found[0].length;
      return { title: readLiteral(text, code, offset), file: `test/${name}`, line: lineOf(text, offset) };
    });
  });
}

/** Returns one line per duplicate title. */
export function checkTitles(root: string): { clashes: string[]; titles: number } {
  const clashes: string[] = [];
  const seen = new Map<string, string>();
  for (const { title, file, line } of readTitles(root)) {
    const place = `${file}:${line}`;
    const first = seen.get(title);
    if (first === undefined) seen.set(title, place);
    else clashes.push(`${place} has the title of ${first}: ${title}`);
  }
  return { clashes, titles: seen.size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { clashes, titles } = checkTitles(process.cwd());
  for (const clash of clashes) console.error(clash);
  if (clashes.length === 0) console.log(`${titles} titles, all different`);
  process.exitCode = clashes.length === 0 ? 0 : 1;
}
