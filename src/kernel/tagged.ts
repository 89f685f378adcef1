/**
 * The storage form of values that JSON cannot carry: `{"$": kind, "v": payload}`. A plain object with a key `$`
 * is wrapped as kind `object`, so user data cannot imitate a tag. Reading creates only the kinds listed here.
 *
 *   message    v: the message in wire form, `{type, content, id?, ...}`
 *   command / send   v: `{goto, update, resume, graph}` / `{node, args}`
 *   date       v: ISO text         bigint   v: decimal digits      bytes  v: base64
 *   map        v: [key, value][]   set      v: value[]             error  v: `{name, message}`
 *   undefined  no v                object   v: the object itself       regexp v: as in code, `/source/flags`
 */
import { sha256 } from './digest.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

export const TAG = '$';

export type TaggedKind =
  | 'message'
  | 'command'
  | 'send'
  | 'date'
  | 'bigint'
  | 'bytes'
  | 'map'
  | 'set'
  | 'error'
  | 'regexp'
  | 'undefined'
  | 'object';

export function tagged(kind: TaggedKind, v?: Json): JsonObject {
  return v === undefined ? { [TAG]: kind } : { [TAG]: kind, v };
}

/** False if `flatten` changes nothing. JSON strings escape quotes, so the searched text occurs only in a tag. */
export const mayHaveTags = (stored: string): boolean => stored.includes(`{"${TAG}":`);

const isText = (v: Json): boolean => typeof v === 'string';
const isPair = (v: Json): boolean => Array.isArray(v) && v.length === 2;

/** Whether a payload is one of the kind. */
const PAYLOADS: Readonly<Record<TaggedKind, (v: Json) => boolean>> = {
  message: isObject,
  command: isObject,
  send: isObject,
  date: (v) => v === null || isText(v),
  bigint: (v) => typeof v === 'string' && /^-?\d+$/.test(v),
  bytes: isText,
  map: (v) => Array.isArray(v) && v.every(isPair),
  set: Array.isArray,
  error: isObject,
  regexp: isPattern,
  undefined: () => true,
  object: isObject,
};

function isPattern(v: Json): boolean {
  if (typeof v !== 'string' || !v.startsWith('/')) return false;
  const end = v.lastIndexOf('/');
  try {
    return new RegExp(v.slice(1, end), v.slice(end + 1)) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Tag of a stored object; undefined for a plain one. An object of an exported file may have a tag with another payload, or
 * an unknown one: that is plain too.
 */
export function tagOf(value: JsonObject): TaggedKind | undefined {
  if (!Object.hasOwn(value, TAG)) return undefined;
  const kind = value[TAG];
  if (typeof kind !== 'string' || !Object.hasOwn(PAYLOADS, kind)) return undefined;
  return PAYLOADS[kind as TaggedKind](value['v'] ?? null) ? (kind as TaggedKind) : undefined;
}

/**
 * Converts a stored value into what clients see: messages flat, dates as text, maps as objects. Works in place,
 * because callers own the parsed value and long conversations are read often.
 */
export function flatten(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return flattenList(value);
  const kind = tagOf(value);
  if (kind === undefined) return flattenObject(value);
  const v = value['v'] ?? null;
  switch (kind) {
    case 'undefined':
      return null;
    case 'map':
      return Object.fromEntries(
        (v as [Json, Json][]).map(([key, item]) => [nameOf(flatten(key)), flatten(item)]),
      );
    case 'set':
      return flattenList(v as Json[]);
    case 'object':
    case 'message':
    case 'command':
    case 'send':
      return flattenObject(v as JsonObject);
    default:
      return v;
  }
}

const MAX_NAME_CHARACTERS = 1_000;

/**
 * Name of a map entry whose key clients see as `key`. Keys that are not text use their JSON; long JSON is cut and
 * hashed, since nested maps as keys would double it at each level.
 */
export function nameOf(key: Json): string {
  if (typeof key === 'string') return key;
  const text = JSON.stringify(key);
  return text.length <= MAX_NAME_CHARACTERS ? text : `${text.slice(0, MAX_NAME_CHARACTERS)}… ${sha256(text)}`;
}

function flattenList(list: Json[]): Json[] {
  for (const [index, item] of list.entries())
    if (typeof item === 'object' && item !== null) list[index] = flatten(item);
  return list;
}

/** An own key `__proto__` stays an ordinary key, because assignment only replaces existing members. */
function flattenObject(value: JsonObject): JsonObject {
  for (const key in value) {
    const item = value[key]!;
    if (typeof item !== 'object' || item === null) continue;
    if (!Array.isArray(item) && tagOf(item) === 'undefined') delete value[key];
    else value[key] = flatten(item);
  }
  return value;
}
