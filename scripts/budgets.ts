/**
 * Line budgets of the folders of `src`, the scripts and the tests, and the rule that only the store has SQL. Growth
 * fails until a budget is raised in the same commit; so does a budget that leaves room for more than `MAX_UNUSED_LINES`.
 */
import { lineOf, maskSource } from './source.ts';

/** Maximum lines of code by folder; the longest matching path counts, `src` has the files of `src` itself. */
const MAX_LINES: Readonly<Record<string, number>> = {
  src: 1245,
  'src/actors': 1819,
  'src/archive': 2208,
  'src/assistant': 174,
  'src/auth': 815,
  'src/cli': 2869,
  'src/config': 1332,
  'src/cron': 335,
  'src/delivery': 341,
  'src/effects': 2849,
  'src/examples': 241,
  'src/graphs': 10172,
  'src/http': 11592,
  'src/item': 304,
  'src/kernel': 1957,
  'src/observe': 418,
  'src/past': 6215,
  'src/protocol': 1504,
  'src/recording': 5149,
  'src/store/port': 1827,
  'src/store/postgres': 2301,
  'src/store/sql': 8368,
  'src/store/sqlite': 2224,
  'src/streams': 1043,
  'src/studio': 5837,
  'src/thread': 1702,
  'src/wiring': 460,
  'src/worker': 803,
  'src/workers': 2338,
  'src/ws': 620,
  scripts: 2431,
  test: 79054,
};

const MAX_UNUSED_LINES = 100;

const SQL = /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE (?:TEMP )?(?:TABLE|INDEX))\b/g;
const STORE = /^src\/store\//;

export interface SourceFile {
  /** Path below the root, with slashes. */
  readonly file: string;
  readonly text: string;
}

/** Returns one line of text for each budget that is exceeded or too high, and for SQL outside of the store. */
export const checkBudgets = (files: readonly SourceFile[], maxLines = MAX_LINES): string[] => [
  ...checkLines(files, maxLines),
  ...files.flatMap(checkSql),
];

/** Lines of code by folder of the table. */
export function countLines(
  files: readonly SourceFile[],
  folders: readonly string[] = Object.keys(MAX_LINES),
): Record<string, number> {
  const counts = Object.fromEntries(folders.map((folder) => [folder, 0]));
  for (const { file, text } of files) {
    const folder = folders
      .filter((path) => file.startsWith(`${path}/`))
      .sort((a, b) => b.length - a.length)[0];
    if (folder !== undefined) counts[folder]! += text.trimEnd().split('\n').length;
  }
  return counts;
}

function checkLines(files: readonly SourceFile[], maxLines: Readonly<Record<string, number>>): string[] {
  return Object.entries(countLines(files, Object.keys(maxLines))).flatMap(([folder, lines]) => {
    const most = maxLines[folder]!;
    if (lines > most)
      return [`${folder} has ${lines} lines, budget ${most}: delete some, or raise it in scripts/budgets.ts`];
    if (lines < most - MAX_UNUSED_LINES)
      return [`${folder} has ${lines} lines, budget ${most}: lower it in scripts/budgets.ts`];
    return [];
  });
}

function checkSql({ file, text }: SourceFile): string[] {
  if (!file.startsWith('src/') || STORE.test(file)) return [];
  const code = maskSource(text);
  return [...text.matchAll(SQL)]
    .filter(({ index }) => code[index] === ' ')
    .map(({ index }) => `${file}:${lineOf(text, index)} has SQL: only the store may`);
}
