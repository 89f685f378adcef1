/**
 * JSON that is text already and becomes part of a reply as it is: a large state is not taken apart into objects on its
 * way from where it is kept to a client, for meanwhile a server does nothing else.
 */
import { randomUUID } from 'node:crypto';
import type { Json } from './json.ts';

/** S3 What one answer may hold of values that may each be large, in characters. */
export const LARGEST_ANSWER = 64 * 2 ** 20;

/** Stands for a text where it goes. Drawn for this process and never sent, so no value of anybody contains it. */
const MARK = randomUUID();
/** Those met by the call of `writeJson` under way. */
let met: string[] | undefined;

export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** Throws a `SyntaxError` when the text is no JSON. */
  parse(): Json {
    return JSON.parse(this.text) as Json;
  }

  /** For `JSON.stringify`, which has no place for a text: only `writeJson` puts it in as it is. */
  toJSON(): Json {
    if (met === undefined) return this.parse();
    met.push(this.text);
    return MARK;
  }
}

/** JSON with texts in it. */
export type Sendable = Json | JsonText | Sendable[] | { [key: string]: Sendable };

/** What `JSON.stringify` would write of a value and its texts. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  met = texts;
  let written: string;
  try {
    written = JSON.stringify(value);
  } finally {
    met = undefined;
  }
  if (texts.length === 0) return written;
  const [first = '', ...pieces] = written.split(`"${MARK}"`);
  return pieces.reduce((whole, piece, index) => whole + texts[index] + piece, first);
}
