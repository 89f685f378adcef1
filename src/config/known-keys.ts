/** Warns about names without effect, since an ignored setting misleads its author. */
import { z } from 'zod';
import { isObject } from '../kernel/json.ts';
import { fileSchema, isClosed, SETTINGS } from './schema.ts';
import { coreOf, type Environment } from './setting.ts';

/** Documented keys of other servers for features that this server lacks. */
const UNSUPPORTED = [
  ...['auth.allow_langsmith_api_keys', 'checkpointer.backend', 'checkpointer.path', 'checkpointer.serde'],
  ...['dockerfile_lines', 'encryption', 'ui', 'ui_config'],
];
const KEYS = [...keysOf(fileSchema, []), ...UNSUPPORTED];
const VARIABLES = SETTINGS.flatMap(({ names }) => names.filter((name) => name.startsWith('PLATFORM_')));

function keysOf(schema: z.core.$ZodType, path: readonly string[]): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([key, member]) => [
    [...path, key].join('.'),
    ...keysOf(coreOf(member as z.core.$ZodType), [...path, key]),
  ]);
}

/** Returns one line for each key of the file without effect. */
export const keyWarnings = (file: unknown): string[] => warningsIn(fileSchema, file, []);

function warningsIn(wrapped: z.core.$ZodType, value: unknown, path: readonly string[]): string[] {
  const schema = coreOf(wrapped);
  if (!isObject(value)) return [];
  const members = Object.entries(value).map(([key, each]) => [key, each, [...path, key]] as const);
  if (schema instanceof z.ZodUnion) {
    const fitting = schema.options.filter((option) => z.safeParse(option, value).success);
    return fitting.flatMap((option) => warningsIn(option, value, path));
  }
  if (schema instanceof z.ZodRecord)
    return members.flatMap(([, each, at]) => warningsIn(schema.valueType, each, at));
  if (!isClosed(schema)) return [];
  const { shape } = schema;
  const names = Object.keys(shape).map((key) => [...path, key].join('.'));
  return members.flatMap(([key, each, at]) =>
    Object.hasOwn(shape, key) ? warningsIn(shape[key]!, each, at) : warning(at.join('.'), each, names),
  );
}

function warning(path: string, value: unknown, siblings: readonly string[]): string[] {
  if (UNSUPPORTED.includes(path))
    return asksForNothing(value) ? [] : [`${path} is not supported and has no effect`];
  const meant = nearest(path, [...siblings, ...KEYS]);
  return [`${path} is unknown and has no effect${meant === undefined ? '' : `; did you mean "${meant}"?`}`];
}

const asksForNothing = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length === 0
    : [null, false, '', 'default'].some((nothing) => nothing === value);

/** Returns one line for each variable that is probably a misspelt one; other programs use `PLATFORM_` too. */
export const variableWarnings = (env: Environment): string[] =>
  Object.keys(env).flatMap((name) => {
    const isOther = !name.startsWith('PLATFORM_') || VARIABLES.includes(name);
    const meant = isOther ? undefined : nearest(name, VARIABLES);
    return meant === undefined ? [] : [`${name} is unknown and has no effect; did you mean ${meant}?`];
  });

/** The name with the fewest edits, if they are few for its length. A key in the wrong object is one edit away. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((each) => ({ each, edits: each.endsWith(`.${name}`) ? 1 : editsBetween(name, each) }))
    .sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= Math.min(2, name.length / 2) ? best.each : undefined;
}

/** Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
