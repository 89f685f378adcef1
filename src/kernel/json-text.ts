/**
 * JSON that is text already and becomes part of a reply as it is: a large state is not taken apart into objects on its
 * way from where it is kept to a client, for meanwhile a server does nothing else.
 */
import { randomUUID } from 'node:crypto';
import type { Json } from './json.ts';
import { WORTH_HOLDING } from './weak-values.ts';

/** S3 What one answer may hold of values that may each be large, in characters. */
export const LARGEST_ANSWER = 64 * 2 ** 20;

/** Stands for a text where it goes. Drawn for this process and never sent, so no value of anybody contains it. */
const MARK = randomUUID();
/** Those met by the call of `writeJson` under way. */
let met: JsonText[] | undefined;

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
    met.push(this);
    return MARK;
  }
}

/** JSON with texts in it. */
export type Sendable = Json | JsonText | Sendable[] | { [key: string]: Sendable };

/** What `JSON.stringify` would write of a value and its texts. */
export const writeJson = (value: unknown): string => join(takeApart(value));

/** What was written with a text in it, as long as somebody has that. */
const sent = new WeakMap<JsonText, Written[]>();
/** Whoever has the bytes has the texts as well, by which they are found. */
const textsOf = new WeakMap<Uint8Array, readonly JsonText[]>();

/**
 * S3 The same for sending, as UTF-8 when it is long: as long as one reply has those bytes, another one that says the same
 * with the same texts is given them, and must not change them. A hundred clients who ask for one large state hold it once.
 */
export function encodeJson(value: unknown): string | Uint8Array<ArrayBuffer> {
  const parts = takeApart(value);
  const [first] = parts.texts;
  if (parts.texts.reduce((size, { text }) => size + text.length, parts.written.length) <= WORTH_HOLDING)
    return join(parts);
  const others = (first && sent.get(first)) ?? [];
  const same = others.find((other) => areSame(other, parts))?.bytes.deref();
  if (same !== undefined) return same;
  const bytes = Buffer.from(join(parts));
  if (first !== undefined) {
    const alive = others.filter((other) => other.bytes.deref() !== undefined);
    sent.set(first, [...alive, { ...parts, bytes: new WeakRef(bytes) }]);
    textsOf.set(bytes, parts.texts);
  }
  return bytes;
}

interface Written extends Parts {
  readonly bytes: WeakRef<Uint8Array<ArrayBuffer>>;
}

interface Parts {
  /** With the mark where a text goes. */
  readonly written: string;
  readonly texts: readonly JsonText[];
}

function takeApart(value: unknown): Parts {
  const texts: JsonText[] = [];
  met = texts;
  try {
    return { written: JSON.stringify(value), texts };
  } finally {
    met = undefined;
  }
}

function join({ written, texts }: Parts): string {
  if (texts.length === 0) return written;
  const [first = '', ...pieces] = written.split(`"${MARK}"`);
  return pieces.reduce((whole, piece, index) => whole + texts[index]!.text + piece, first);
}

const areSame = (one: Parts, other: Parts): boolean =>
  one.written === other.written &&
  one.texts.length === other.texts.length &&
  one.texts.every((text, index) => text === other.texts[index]);
