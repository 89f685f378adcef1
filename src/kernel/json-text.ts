/**
 * JSON text that is inserted into replies unparsed: parsing and serialising a large state would block the event loop.
 */
import { randomUUID } from 'node:crypto';
import type { Json } from './json.ts';
import { WORTH_HOLDING } from './weak-values.ts';

/** S3 Maximum characters of large values in one reply. */
export const MAX_RESPONSE_CHARS = 64 * 2 ** 20;

/** Placeholder for a text in the serialised reply. Random per process and never sent, so no value contains it. */
const PLACEHOLDER = randomUUID();
/** Texts met by the current call of `takeApart`. */
let met: JsonText[] | undefined;

export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** Throws a `SyntaxError` when the text is not JSON. */
  parse(): Json {
    return JSON.parse(this.text) as Json;
  }

  /** Called by `JSON.stringify`: within `takeApart` returns the placeholder, otherwise the parsed value. */
  toJSON(): Json {
    if (met === undefined) return this.parse();
    met.push(this);
    return PLACEHOLDER;
  }
}

/** A JSON value that may contain unparsed texts. */
export type Sendable = Json | JsonText | Sendable[] | { [key: string]: Sendable };

/** Serialises a value, inserting its texts unparsed. */
export const writeJson = (value: unknown): string => join(takeApart(value));

/** Encoded replies by their first text, for as long as that text is alive. */
const sent = new WeakMap<JsonText, Written[]>();
/** Keeps the texts alive as long as the bytes, since `sent` finds bytes by their text. */
const textsOf = new WeakMap<Uint8Array, readonly JsonText[]>();

/**
 * S3 Serialises a value for sending: as a string, or as UTF-8 bytes when it is long. Equal long replies with identical
 * texts share their bytes, so many readers of a large state hold it once. Callers must not change the bytes.
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
  /** JSON with placeholders for the texts. */
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
  const [first = '', ...pieces] = written.split(`"${PLACEHOLDER}"`);
  return pieces.reduce((whole, piece, index) => whole + texts[index]!.text + piece, first);
}

const areSame = (one: Parts, other: Parts): boolean =>
  one.written === other.written &&
  one.texts.length === other.texts.length &&
  one.texts.every((text, index) => text === other.texts[index]);
