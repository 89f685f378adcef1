/**
 * Generates the configuration reference in `README.md` and `platform.schema.json` of `src/config` from the settings. Part of
 * `npm run format`; a test fails when one is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { detailsOf } from '../src/config/setting.ts';
import { FOR_OTHER_TOOLS, SETTINGS, toJsonSchema, type Setting } from '../src/config/schema.ts';

export const PAGE = fileURLToPath(new URL('../src/config/README.md', import.meta.url));
export const SCHEMA = fileURLToPath(new URL('../src/config/platform.schema.json', import.meta.url));

interface Node {
  readonly type?: string;
  readonly form?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

type Row = readonly string[];

const addForm: NonNullable<Parameters<typeof toJsonSchema>[0]> = ({ zodSchema, jsonSchema }) => {
  const { form } = detailsOf(zodSchema);
  if (form !== undefined) jsonSchema['form'] = form;
};

/** Returns a row for each key, followed by those of its members. */
function rowsOf(node: Node, path: string, isRequired: boolean): Row[] {
  const members = Object.entries(node.properties ?? {});
  const isOpen = node.form !== undefined || members.length === 0;
  const own: Row[] =
    path === ''
      ? []
      : [[`\`${path}\``, typeText(node), defaultText(node, isRequired, isOpen), node.description ?? '']];
  if (isOpen) return own;
  return [
    ...own,
    ...members.flatMap(([key, member]) =>
      rowsOf(member, path === '' ? key : `${path}.${key}`, node.required?.includes(key) === true),
    ),
  ];
}

function typeText(node: Node): string {
  if (node.form !== undefined) return node.form;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (node.anyOf !== undefined) return node.anyOf.map(typeText).join(' or ');
  switch (node.type) {
    case 'array':
      return `list of ${typeText(node.items ?? {})}${lengthText(node)}`;
    case 'boolean':
      return '`true` or `false`';
    case 'integer':
      return `whole number${rangeText(node)}`;
    case 'number':
      return `number${rangeText(node)}`;
    case 'string':
      return 'text';
    default:
      return node.type ?? 'any';
  }
}

function rangeText({ minimum, exclusiveMinimum, maximum }: Node): string {
  // Zod uses the safe integer bounds for "no limit".
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const min = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const low = exclusiveMinimum === undefined ? min : `above ${exclusiveMinimum}`;
  if (low === undefined) return max === undefined ? '' : `, at most ${max}`;
  if (max === undefined) return typeof low === 'string' ? ` ${low}` : `, at least ${low}`;
  return typeof low === 'string' ? ` ${low}, at most ${max}` : `, ${low} to ${max}`;
}

function lengthText({ minItems, maxItems }: Node): string {
  if (minItems === undefined && maxItems === undefined) return '';
  return `, ${[minItems && `at least ${minItems}`, maxItems && `at most ${maxItems}`].filter(Boolean).join(', ')}`;
}

function defaultText(node: Node, isRequired: boolean, isLeaf: boolean): string {
  if (isRequired) return 'required';
  if (!isLeaf || node.default === undefined || isEmpty(node.default)) return '';
  return `\`${JSON.stringify(node.default)}\``;
}

const isEmpty = (value: unknown): boolean =>
  value === '' || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The row of a setting that an option or a variable can give. */
function nameRow({ schema, names, inFile, details: { byDefault } }: Setting): Row {
  const isOption = (name: string): boolean => name.startsWith('--');
  const node = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: addForm }) as Node;
  return [
    codes(names.filter((name) => !isOption(name))),
    codes(names.filter(isOption)),
    node.items === undefined ? typeText(node) : `${typeText(node.items)}, separated by commas`,
    byDefault ?? (inFile === undefined ? codes([String(node.default)]) : codes([inFile.join('.')])),
    node.description ?? '',
  ];
}

const codes = (all: readonly string[]): string => all.map((each) => `\`${each}\``).join(', ');

const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

/** Generated parts of the page: from each mark to `<!-- end -->`. */
const PARTS: Readonly<Record<string, () => string>> = {
  '<!-- keys of the file -->': () =>
    table(
      ['Key', 'Type', 'Default', 'Meaning'],
      rowsOf(toJsonSchema(addForm) as Node, '', false).filter((row) => row.at(-1) !== FOR_OTHER_TOOLS),
    ),
  '<!-- variables of the environment -->': () =>
    table(
      ['Variable', 'Option', 'Type', 'Default', 'Meaning'],
      SETTINGS.filter(({ names }) => names.length > 0).map(nameRow),
    ),
};
const END = '<!-- end -->';

/** Returns the formatted page with the current reference. */
export async function writtenPage(page: string): Promise<string> {
  let text = page;
  for (const [mark, write] of Object.entries(PARTS)) {
    const start = text.indexOf(mark);
    const end = text.indexOf(END, start);
    if (start < 0 || end < 0) throw new Error(`${PAGE}: expected ${mark} and ${END}`);
    text = `${text.slice(0, start + mark.length)}\n\n${write()}\n\n${text.slice(end)}`;
  }
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

export const writtenSchema = async (): Promise<string> =>
  format(JSON.stringify(toJsonSchema()), { ...(await resolveConfig(SCHEMA)), parser: 'json' });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = readFileSync(PAGE, 'utf8');
  const written = await writtenPage(page);
  if (written !== page) writeFileSync(PAGE, written);
  writeFileSync(SCHEMA, await writtenSchema());
}
