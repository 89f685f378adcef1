/** Reads the settings from file, environment and command line, and collects all problems. */
import type { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { fileSchema, SETTINGS, type Setting } from './schema.ts';
import type { Environment } from './setting.ts';
import { settings } from './settings.ts';

export interface Sources {
  readonly file: JsonObject;
  /** Path of the file. */
  readonly path: string;
  readonly texts: Environment;
}

/** A wrong value is a problem and does not count. `wrong`: its first key in the file or in `Config`. */
export function readSettings(
  { file, path, texts }: Sources,
  problems: string[],
): { readonly values: z.output<typeof settings>; readonly wrong: ReadonlySet<unknown> } {
  const wrong = new Set<unknown>();
  const sound = checkFile(file, (issue) => {
    wrong.add(issue.path[0]);
    const isIn = ({ inFile }: Setting): boolean => inFile?.every((key, i) => key === issue.path[i]) === true;
    const text = problemText(issue, valueAt(file, issue.path), SETTINGS.find(isIn)?.details.isSecret);
    problems.push(`${path}: ${issue.path.join('.')}: ${text}`);
  });
  const given: Record<string, unknown> = {};
  for (const setting of SETTINGS) {
    const { keys, inFile } = setting;
    const before = problems.length;
    const value = readText(setting, texts, problems) ?? (inFile && valueAt(sound, inFile));
    if (problems.length > before) wrong.add(keys[0]);
    const parent = keys.slice(0, -1).reduce((of, key) => (of[key] ??= {}) as typeof given, given);
    if (value !== undefined) parent[keys.at(-1)!] = value;
  }
  return { values: settings.parse(given), wrong };
}

/** Returns the file without its wrong members. */
function checkFile(file: JsonObject, report: (issue: z.core.$ZodIssue) => void): JsonObject {
  let sound = file;
  for (;;) {
    const { error } = fileSchema.safeParse(sound);
    if (error === undefined) return sound;
    const checked = sound;
    for (const issue of error.issues) {
      if (checked === file) report(issue);
      // An object that lacks a member is wrong as a whole.
      const isMissing = valueAt(checked, issue.path) === undefined;
      sound = without(sound, isMissing ? issue.path.slice(0, -1) : issue.path);
    }
  }
}

/** Returns a copy without the member at a path. A list goes as a whole. */
function without(of: JsonObject, [wrong, ...rest]: readonly PropertyKey[]): JsonObject {
  const entries = Object.entries(of).map(([key, value]): [string, Json] | [] => {
    if (key !== wrong) return [key, value];
    return rest.length > 0 && isObject(value) ? [key, without(value, rest)] : [];
  });
  return Object.fromEntries(entries.filter((entry) => entry.length > 0));
}

/** Value of the option or variable. */
function readText({ schema, details, names }: Setting, texts: Environment, problems: string[]): unknown {
  const { fromText = (text: string): unknown => text } = details;
  for (const name of names) {
    const text = texts[name];
    const value = text === undefined ? undefined : fromText(text);
    if (value === undefined) continue;
    const { error } = schema.safeParse(value);
    for (const issue of error?.issues ?? []) {
      const part = issue.path.length === 0 ? text : valueAt(value, issue.path);
      const form = Array.isArray(value) ? ', separated by commas' : '';
      problems.push(`${name}: ${problemText(issue, part, details.isSecret, form)}`);
    }
    return error === undefined ? value : undefined;
  }
  return undefined;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (of, key) => (typeof of === 'object' ? (of as JsonObject | null)?.[String(key)] : undefined),
    value,
  );

function problemText(issue: z.core.$ZodIssue, value: unknown, isSecret = false, form = ''): string {
  const isKey = issue.code === 'invalid_key';
  const { message } = (isKey ? issue.issues[0] : undefined) ?? issue;
  if (value === undefined || isSecret || isKey) return `${message}${form}`;
  if (typeof value === 'object' && value !== null)
    return `${message}${form}, found ${Array.isArray(value) ? 'a list' : 'an object'}`;
  const text = JSON.stringify(value);
  return `${message}${form}, found ${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}`;
}
const MAX_SHOWN_CHARS = 100;
