/** Parses the options of a re-execution that edit the run. */
import { existsSync } from 'node:fs';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { readTextFile } from '../../kernel/text-file.ts';
import { Unavailable } from '../../kernel/unavailable.ts';

export function matchOf(text = 'exact'): 'exact' | 'url' {
  if (text === 'exact' || text === 'url') return text;
  throw new Error(`--match: expected exact or url, found "${text}"`);
}

/** `N=FILE`: the text of FILE replaces the body of answer N, of `count`. */
export function answersOf(given: readonly string[], count: number): Map<number, string> {
  return new Map(
    given.map((text) => {
      const [, number, file] = /^(\d+)=(.+)$/s.exec(text) ?? [];
      if (number === undefined || file === undefined)
        throw new Error(`--answer: expected N=FILE, N counts exchanges from 1, found "${text}"`);
      if (Number(number) < 1 || Number(number) > count)
        throw new Error(
          count === 0
            ? '--answer: the run has no recorded exchange'
            : `--answer: expected an exchange from 1 to ${count}, found ${number}`,
        );
      if (!existsSync(file)) throw new Unavailable(`--answer: ${file} is missing`);
      return [Number(number), readTextFile(file)];
    }),
  );
}

/** `key=value`: a value that is not JSON is a text. */
export function membersOf(given: readonly string[]): JsonObject {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at <= 0) throw new Error(`--set: expected key=value, found "${text}"`);
      return [text.slice(0, at), toJson(text.slice(at + 1))];
    }),
  );
}

function toJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // A plain text needs no quotes.
    return text;
  }
}
