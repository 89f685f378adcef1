/**
 * Generates the table of client methods in `test/conformance/README.md` from test titles: a title such as
 * `client.threads.copy: …` or `RemoteGraph.getState, RemoteGraph.updateState: …` is proof for the methods that it
 * names. `node --import tsx scripts/capabilities.ts` writes the table; a test compares it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTitles, type Titled } from './titles.ts';

const FOLDER = 'test/conformance';
const SUBJECT = /^(?:client\.[a-z]+\.\w+|(?:RemoteGraph|useStream)\.\w+)$/;
const BEGIN = '<!-- capabilities: begin -->';
const END = '<!-- capabilities: end -->';

/** Maps each method to the tests that prove it, in file order. */
export function readCapabilities(root: string): Map<string, Titled[]> {
  const proofs = new Map<string, Titled[]>();
  for (const test of readTitles(root))
    for (const subject of subjectsOf(test.title)) proofs.set(subject, [...(proofs.get(subject) ?? []), test]);
  return new Map([...proofs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the methods that a title names; empty for other titles. */
export function subjectsOf(title: string): string[] {
  const colon = title.indexOf(': ');
  if (colon < 0) return [];
  const names = title.slice(0, colon).split(/, | and /);
  return names.every((name) => SUBJECT.test(name)) ? names : [];
}

export function renderTable(proofs: ReadonlyMap<string, readonly Titled[]>): string {
  const rows = [...proofs].map(([subject, tests]) => {
    const proven = tests.map(({ title, file }) => {
      const promise = title.slice(title.indexOf(': ') + 2).replaceAll('|', '\\|');
      return `[${promise}](${relative(FOLDER, file)})`;
    });
    return `| \`${subject}\` | ${proven.join('<br>')} |`;
  });
  return ['| Method | What its tests show |', '| --- | --- |', ...rows].join('\n');
}

/** Inserts the table between its marks. Throws when a mark is missing. */
export function placeTable(readme: string, table: string): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${FOLDER}/README.md: expected ${BEGIN} and ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${readme.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(process.cwd(), FOLDER, 'README.md');
  const table = renderTable(readCapabilities(process.cwd()));
  writeFileSync(file, placeTable(readFileSync(file, 'utf8'), table));
  console.log(table);
}
