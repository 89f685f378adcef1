/**
 * Encodes graph values in the stored form of `kernel/tagged.ts` and decodes them. Stored data is untrusted: only the
 * kinds listed there are revived, and user data that looks like a tag (`$`, `lc`, `__type`) stays data.
 *
 * NaN and infinities become null. Instances of unknown classes become plain objects.
 */
import { isObject, setMember, type Json, type JsonObject } from '../kernel/json.ts';
import { TAG, tagged, tagOf } from '../kernel/tagged.ts';
import { MAX_VALUE_DEPTH, toShape, UnstorableValue } from './shapes.ts';
import type { TransformerRun } from './transformers.ts';

/** Builds instances of library classes from the user's own copy of the library (`user-library.ts`). */
export interface StoreQueue {
  running: boolean;
  readonly queue: { readonly size: number };
  start(): void;
  stop(): Promise<void>;
  enqueueOperation(operation: object): unknown;
  processBatchQueue(): Promise<void>;
}

export interface Reviver {
  message(fields: Record<string, unknown>): unknown;
  command(fields: Record<string, unknown>): unknown;
  send(fields: Record<string, unknown>): unknown;
  /** An empty instance of the library's `BaseStore`; absent if the library version has no stores. */
  store?(): object;
  /** Prototype of the queues in which the library collects operations of the item store. */
  readonly storeQueue?: StoreQueue;
  /** The library's config of the current task; absent if the library version does not tell it. */
  readonly config?: () => unknown;
  /** Undefined if the library version has no stream transformers. */
  readonly transformers?: TransformerRun;
}

/**
 * Tagged JSON text of a runtime value. Throws `UnstorableValue` for functions, symbols, promises, cycles and excessive
 * depth or size; its message starts the value's path with `name`.
 */
export function encode(value: unknown, name?: string): string {
  return toText(toTagged(value, pathOf(name)), name);
}

const pathOf = (name: string | undefined): Step[] =>
  name === undefined ? [] : [{ key: name, owner: NOBODY }];

/** JSON text of a value in the stored form. Throws `UnstorableValue` for an excessive size. */
export function toText(stored: Json, name?: string): string {
  const text = JSON.stringify(stored);
  const bytes = text.length > MAX_VALUE_BYTES / 3 ? Buffer.byteLength(text) : 0;
  if (bytes > MAX_VALUE_BYTES)
    throw unstorable(
      pathOf(name),
      `has ${bytes} bytes as JSON, where at most ${MAX_VALUE_BYTES} are expected,`,
    );
  return text;
}

/** A larger value could be neither shown in one reply nor exported. */
const MAX_VALUE_BYTES = 64 * 2 ** 20;

const NOBODY = Object.freeze({});

interface Step {
  readonly key: string | number;
  readonly owner: object;
}

function toTagged(value: unknown, path: Step[]): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'undefined':
      return tagged('undefined');
    case 'bigint':
      return tagged('bigint', value.toString());
    case 'function':
    case 'symbol':
      throw unstorable(path, `is a ${typeof value}`);
    case 'object':
      return value === null ? null : objectToTagged(value, path);
  }
}

function objectToTagged(value: object, path: Step[]): Json {
  if (path.some((step) => step.owner === value)) throw unstorable(path, 'contains itself');
  if (path.length > MAX_VALUE_DEPTH)
    throw unstorable(path, `is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  const shape = toShape(value);
  switch (shape.kind) {
    case 'array':
      return Array.from(shape.v, (item, index) => child(value, index, item, path));
    case 'plain': {
      const fields = members(value, shape.v, path);
      return Object.hasOwn(fields, TAG) ? tagged('object', fields) : fields;
    }
    case 'message':
    case 'command':
    case 'send':
      return tagged(shape.kind, members(value, shape.v, path));
    case 'map':
      return tagged(
        'map',
        shape.v.map(([key, item], index) => [
          child(value, `key ${index}`, key, path),
          child(value, `value ${index}`, item, path),
        ]),
      );
    case 'set':
      return tagged(
        'set',
        shape.v.map((item, index) => child(value, index, item, path)),
      );
    case 'date':
    case 'bytes':
    case 'regexp':
    case 'error':
      return tagged(shape.kind, shape.v);
    case 'other':
      return child(value, 'toJSON()', shape.v, path);
    case 'promise':
      throw unstorable(path, 'is a promise; is an await missing?');
  }
}

/** Functions of the module, because closures for each object would be most of the cost. */
function child(owner: object, key: string | number, item: unknown, path: Step[]): Json {
  // Most values are texts, which have no problem whose path an error would tell.
  if (typeof item === 'string' || item === null) return item;
  path.push({ key, owner });
  const stored = toTagged(item, path);
  path.pop();
  return stored;
}

function members(owner: object, fields: Record<string, unknown>, path: Step[]): JsonObject {
  const stored: JsonObject = {};
  for (const key of Object.keys(fields)) setMember(stored, key, child(owner, key, fields[key], path));
  return stored;
}

function unstorable(path: readonly Step[], problem: string): UnstorableValue {
  const place = path
    .slice(0, 12)
    .map(({ key }, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('');
  return new UnstorableValue(`${place === '' ? 'The value' : place} ${problem} and cannot be stored`);
}

/** True for most values: the text has no tag, because `JSON.stringify` writes the key `$` only as `"$"`. */
export const isPlainJson = (text: string): boolean => !text.includes('"$"');

/** Creates the inverse of `encode`. Without a reviver messages, commands and sends become plain objects. */
export function createDecoder(reviver?: Reviver): (text: string) => unknown {
  const members = (fields: JsonObject): Record<string, unknown> => {
    const target: Record<string, unknown> = fields;
    for (const key of Object.keys(fields)) target[key] = revive(fields[key] as Json);
    return target;
  };
  const revive = (value: Json): unknown => {
    if (Array.isArray(value)) {
      const target: unknown[] = value;
      for (let i = 0; i < value.length; i++) target[i] = revive(value[i] as Json);
      return target;
    }
    if (!isObject(value)) return value;
    const kind = tagOf(value);
    if (kind === undefined) return members(value);
    const v = value['v'] ?? null;
    switch (kind) {
      case 'undefined':
        return undefined;
      case 'object':
        return members(v as JsonObject);
      case 'message':
      case 'command':
      case 'send': {
        const fields = members(v as JsonObject);
        return reviver === undefined ? fields : reviver[kind](fields);
      }
      case 'date':
        return new Date(v === null ? Number.NaN : (v as string));
      case 'bigint':
        return BigInt(v as string);
      case 'bytes':
        return new Uint8Array(Buffer.from(v as string, 'base64'));
      case 'regexp': {
        const text = v as string;
        const end = text.lastIndexOf('/');
        return new RegExp(text.slice(1, end), text.slice(end + 1));
      }
      case 'map':
        return new Map((v as [Json, Json][]).map(([key, item]) => [revive(key), revive(item)]));
      case 'set':
        return new Set((v as Json[]).map(revive));
      case 'error': {
        const { name, message } = v as { name: string; message: string };
        return Object.assign(new Error(message), { name });
      }
      default:
        throw new UnstorableValue(`The stored value has the unknown kind "${String(kind)}"`);
    }
  };
  return (text) => {
    const value = JSON.parse(text) as Json;
    return isPlainJson(text) ? value : revive(value);
  };
}
