/**
 * The table of what clients can do in `test/conformance/README.md`, made from the titles of the tests that drive them: a title that begins
 * with `client.threads.copy: ` or `RemoteGraph.getState, RemoteGraph.updateState: ` is a proof for what it names.
 * `node --import tsx scripts/capabilities.ts` writes the table between its marks; a test compares them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTitles, type Titled } from './titles.ts';

const FOLDER = 'test/conformance';
const SUBJECT = /^(?:client\.[a-z]+\.\w+|(?:RemoteGraph|useStream)\.\w+)$/;
const BEGIN = '<!-- capabilities: begin -->';
const END = '<!-- capabilities: end -->';

/** Method → the tests that prove it, in order of their files. */
export function readCapabilities(root: string): Map<string, Titled[]> {
  const proofs = new Map<string, Titled[]>();
  for (const test of readTitles(root))
    for (const subject of subjectsOf(test.title)) proofs.set(subject, [...(proofs.get(subject) ?? []), test]);
  return new Map([...proofs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What a title speaks of, or nothing when it does not begin that way. */
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

/** The text with the table between its marks. Throws when a mark is missing. */
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
