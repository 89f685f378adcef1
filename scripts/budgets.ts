/**
 * Ceilings of the source: lines of each folder of `src` and of the tests, SQL texts and imports of the SQLite adapter
 * outside of their folders. Growth fails until a ceiling is changed in the same commit; so does a ceiling that leaves
 * room for more than `MAX_UNUSED_LINES`.
 */
import { lineOf, maskSource, readImports } from './source.ts';

/** Maximum lines of code by folder; the longest matching path counts, `src` has the files of `src` itself. */
const MAX_LINES: Readonly<Record<string, number>> = {
  src: 1,
  'src/actors': 1,
  'src/archive': 1,
  'src/assistant': 1,
  'src/auth': 1,
  'src/cli': 1,
  'src/config': 1,
  'src/cron': 1,
  'src/delivery': 1,
  'src/effects': 1,
  'src/examples': 1,
  'src/graphs': 1,
  'src/http': 1,
  'src/item': 1,
  'src/kernel': 1,
  'src/log': 1,
  'src/observe': 1,
  'src/past': 1,
  'src/projections': 1,
  'src/protocol': 1,
  'src/recording': 1,
  'src/streams': 1,
  'src/thread': 1,
  'src/wiring': 1,
  'src/worker': 1,
  'src/workers': 1,
  'src/ws': 1,
  scripts: 1,
  test: 1,
};

const MAX_UNUSED_LINES = 100;

/** Maximum SQL statements by file outside of `log` and `projections`. May only fall. */
const MAX_SQL_STATEMENTS: Readonly<Record<string, number>> = {};

/** Maximum imports of `log/sqlite` by files outside of `log`. May only fall. */
const MAX_ADAPTER_IMPORTS = 26;

const SQL = /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE (?:TEMP )?(?:TABLE|INDEX))\b/g;
const STORE = /^src\/(?:log|projections)\//;

export interface SourceFile {
  /** Path below the root, with slashes. */
  readonly file: string;
  readonly text: string;
}

export interface Budgets {
  readonly maxLines: Readonly<Record<string, number>>;
  readonly maxSqlStatements: Readonly<Record<string, number>>;
  readonly maxAdapterImports: number;
}

export const BUDGETS: Budgets = {
  maxLines: MAX_LINES,
  maxSqlStatements: MAX_SQL_STATEMENTS,
  maxAdapterImports: MAX_ADAPTER_IMPORTS,
};

/** Returns one line of text for each ceiling that is exceeded or too high. */
export const checkBudgets = (files: readonly SourceFile[], budgets = BUDGETS): string[] => [
  ...checkLines(files, budgets.maxLines),
  ...checkSql(files, budgets.maxSqlStatements),
  ...checkAdapter(files, budgets.maxAdapterImports),
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

function checkLines(files: readonly SourceFile[], maxLines: Budgets['maxLines']): string[] {
  return Object.entries(countLines(files, Object.keys(maxLines))).flatMap(([folder, lines]) => {
    const most = maxLines[folder]!;
    if (lines > most)
      return [`${folder} has ${lines} lines, budget ${most}: delete some, or raise it in scripts/budgets.ts`];
    if (lines < most - MAX_UNUSED_LINES)
      return [`${folder} has ${lines} lines, budget ${most}: lower it in scripts/budgets.ts`];
    return [];
  });
}

function checkSql(files: readonly SourceFile[], maxStatements: Budgets['maxSqlStatements']): string[] {
  return files.flatMap(({ file, text }) => {
    if (!file.startsWith('src/') || STORE.test(file)) return [];
    const code = maskSource(text);
    const found = [...text.matchAll(SQL)].filter(({ index }) => code[index] === ' ');
    const most = maxStatements[file] ?? 0;
    if (found.length === most) return [];
    const line = found.length > most ? lineOf(text, found[most]!.index) : 1;
    return [`${file}:${line} has ${found.length} SQL statements outside of the store, expected ${most}`];
  });
}

function checkAdapter(files: readonly SourceFile[], most: number): string[] {
  const outside = files.filter(({ file }) => file.startsWith('src/') && !file.startsWith('src/log/'));
  const found = outside.flatMap(({ text }) =>
    readImports(text).filter(({ specifier }) => specifier.includes('log/sqlite/')),
  );
  return found.length === most
    ? []
    : [`${found.length} imports of log/sqlite from outside of log, expected ${most}`];
}
