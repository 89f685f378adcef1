/**
 * The methods that everything in a thread rests on, the server's side of it too. Graph code can replace them: they
 * cannot be made read-only, because libraries give single objects methods of the same names. So they are compared.
 *
 * X4 A worker in which one of them was replaced says nothing any more and is ended: what it would say cannot be trusted,
 * and its other runs would suffer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { MessagePort } from 'node:worker_threads';

export interface Natives {
  /** The place of the first that was replaced or frozen, from 1; 0 when all are as they were. */
  replaced(): number;
  /** What is at that place, such as `Array.prototype.push`. */
  nameOf(place: number): string;
}

const GLOBALS = [
  ...[
    'String',
    'Number',
    'Boolean',
    'Symbol',
    'Function',
    'RegExp',
    'WeakMap',
    'Math',
    'Uint8Array',
    'Buffer',
  ],
  // Such as those of a test that were never put back.
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ...['queueMicrotask', 'structuredClone'],
  ...['URL', 'TextEncoder', 'TextDecoder'],
  ...['parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURIComponent', 'decodeURIComponent'],
  ...['Error', 'TypeError', 'RangeError', 'AbortController', 'AbortSignal', 'process'],
];

const OWNERS: Readonly<Record<string, () => object>> = {
  'Object.prototype': () => Object.prototype,
  'Array.prototype': () => Array.prototype,
  'Map.prototype': () => Map.prototype,
  'Set.prototype': () => Set.prototype,
  'WeakMap.prototype': () => WeakMap.prototype,
  'Date.prototype': () => Date.prototype,
  'String.prototype': () => String.prototype,
  'Number.prototype': () => Number.prototype,
  'TypedArray.prototype': () => Object.getPrototypeOf(Uint8Array.prototype) as object,
  Buffer: () => Buffer,
  'Function.prototype': () => Function.prototype,
  'RegExp.prototype': () => RegExp.prototype,
  AbortSignal: () => AbortSignal,
  'AbortSignal.prototype': () => AbortSignal.prototype,
  'AbortController.prototype': () => AbortController.prototype,
  'EventTarget.prototype': () => EventTarget.prototype,
  'TextEncoder.prototype': () => TextEncoder.prototype,
  'TextDecoder.prototype': () => TextDecoder.prototype,
  'MessagePort.prototype': () => MessagePort.prototype,
  'AsyncLocalStorage.prototype': () => AsyncLocalStorage.prototype,
  'Symbol.prototype': () => Symbol.prototype,
  'BigInt.prototype': () => BigInt.prototype,
  'Generator.prototype': () => Object.getPrototypeOf(function* () {}.prototype) as object,
  'AsyncIterator.prototype': () =>
    Object.getPrototypeOf(
      Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype)),
    ) as object,
  'AsyncGenerator.prototype': () => Object.getPrototypeOf(async function* () {}.prototype) as object,
  'ReadableStream.prototype': () => ReadableStream.prototype,
  'ReadableStreamDefaultReader.prototype': () => ReadableStreamDefaultReader.prototype,
  'ReadableStreamDefaultController.prototype': () => ReadableStreamDefaultController.prototype,
  'Iterator.prototype': () => Object.getPrototypeOf(Object.getPrototypeOf([].values()) as object) as object,
  'ArrayIterator.prototype': () => Object.getPrototypeOf([].values()) as object,
  'MapIterator.prototype': () => Object.getPrototypeOf(new Map().values()) as object,
  'SetIterator.prototype': () => Object.getPrototypeOf(new Set().values()) as object,
};

/** Single ones. */
const PRESENT: readonly (readonly [owner: string, key: string, find: () => object])[] = [
  ['process', 'nextTick', () => process],
  ['Error', 'captureStackTrace', () => Error],
  ...['randomUUID', 'getRandomValues'].map((key) => ['crypto', key, () => globalThis.crypto] as const),
];
/** What would change every value of its kind, and is not there. */
const ABSENT: readonly (readonly [owner: string, key: PropertyKey])[] = [
  ['Array.prototype', 'toJSON'],
  ['Array.prototype', 'then'],
  ['Array.prototype', Symbol.isConcatSpreadable],
  ['String.prototype', 'toJSON'],
  ['Map.prototype', 'then'],
];
/**
 * Nobody may call these, so what stands there is compared: what says for every run whether it is to stop, and what a
 * list or a promise is made by. Of one that is free only whether it can still be written.
 */
const READ: readonly (readonly [owner: string, key: PropertyKey, find: () => object, free?: 'free'])[] = [
  ['AbortSignal.prototype', 'aborted', () => AbortSignal.prototype],
  ['AbortSignal.prototype', 'reason', () => AbortSignal.prototype],
  ['globalThis', 'crypto', () => globalThis],
  ['Symbol.prototype', 'description', () => Symbol.prototype],
  ['Promise.prototype', 'constructor', () => Promise.prototype],
  ['Array.prototype', 'constructor', () => Array.prototype],
  ['Promise', Symbol.species, () => Promise],
  ['Array', Symbol.species, () => Array],
  ['RegExp', Symbol.species, () => RegExp],
  ['TypedArray', Symbol.species, () => Object.getPrototypeOf(Uint8Array) as object],
  ...['length', 'byteLength', 'byteOffset', 'buffer'].map(
    (key) =>
      ['TypedArray.prototype', key, () => Object.getPrototypeOf(Uint8Array.prototype) as object] as const,
  ),
  // Not there, and with it nothing would be told from anything else.
  ...[Array, Map, Set, Date, Error, Promise, Uint8Array, ArrayBuffer, AbortSignal].map(
    (made) => [made.name, Symbol.hasInstance, () => made] as const,
  ),
  // Cannot be added to anyway: that it was frozen shows only here.
  ['Object.prototype', 'toString', () => Object.prototype],
  // LangGraph writes it in every run.
  ['Error', 'stackTraceLimit', () => Error, 'free'],
];
/** What libraries write on, and all lists and functions are: once frozen or disinherited, every later run suffers. */
const OPEN: readonly (readonly [name: string, find: () => object])[] = [
  ['globalThis', () => globalThis],
  ['process', () => process],
  ['Error', () => Error],
  ...['Error', 'Promise', 'Function', 'Array', 'Map', 'Set', 'String'].map(
    (name) => [`${name}.prototype`, () => (Reflect.get(globalThis, name) as Constructor).prototype] as const,
  ),
];
type Constructor = { readonly prototype: object };

/** Remembers what they are now. */
export function rememberNatives(): Natives {
  const names: string[] = [];
  const owners: Record<PropertyKey, unknown>[] = [];
  const keys: PropertyKey[] = [];
  const values: unknown[] = [];
  const remember = (name: string, owner: object, key: PropertyKey, value: unknown): void => {
    names.push(name);
    owners.push(owner as Record<PropertyKey, unknown>);
    keys.push(key);
    values.push(value);
  };
  for (const name of GLOBALS) remember(name, globalThis, name, Reflect.get(globalThis, name));
  for (const [name, find] of Object.entries(OWNERS)) {
    const owner = find();
    for (const key of Reflect.ownKeys(owner)) {
      const found = Object.getOwnPropertyDescriptor(owner, key);
      // Every kind of object has its own, and what is no function is no work of anybody's.
      if (typeof found?.value !== 'function' || key === 'constructor') continue;
      remember(`${name}.${String(key)}`, owner, key, found.value);
    }
  }
  for (const [name, key, find] of PRESENT) remember(`${name}.${key}`, find(), key, Reflect.get(find(), key));
  for (const [name, key] of ABSENT) remember(`${name}.${String(key)}`, OWNERS[name]!(), key, undefined);
  const count = names.length;
  const firstReplaced = compile(owners, keys, values);
  const { getOwnPropertyDescriptor, getPrototypeOf, isExtensible } = Object;
  const { ownKeys } = Reflect;
  const read: {
    readonly owner: object;
    readonly key: PropertyKey;
    readonly was: PropertyDescriptor | undefined;
    readonly isFree: boolean;
  }[] = [];
  for (const [name, key, find, free] of READ) {
    const owner = find();
    names.push(`${name}.${String(key)}`);
    read.push({ owner, key, was: getOwnPropertyDescriptor(owner, key), isFree: free === 'free' });
  }
  const open: { readonly owner: object; readonly was: boolean; readonly from: unknown }[] = [];
  for (const [name, find] of OPEN) {
    const owner = find();
    names.push(name);
    open.push({ owner, was: isExtensible(owner), from: getPrototypeOf(owner) });
  }
  const lists = Array.prototype;
  const entry = names.push('an entry of Array.prototype');
  return {
    // Nothing here calls any of them.
    replaced() {
      const place = firstReplaced();
      if (place !== 0) return place;
      // Numbers come first. Every list would have one there, and whoever adds to a shorter list would call it.
      if (ownKeys(lists)[0] !== 'length') return entry;
      for (let i = 0; i < read.length; i++) {
        const { owner, key, was, isFree } = read[i]!;
        const is = getOwnPropertyDescriptor(owner, key);
        if (is?.get !== was?.get || is?.set !== was?.set || is?.writable !== was?.writable)
          return count + i + 1;
        if (!isFree && is?.value !== was?.value) return count + i + 1;
      }
      for (let i = 0; i < open.length; i++) {
        const { owner, was, from } = open[i]!;
        if (isExtensible(owner) !== was || getPrototypeOf(owner) !== from) return count + read.length + i + 1;
      }
      return 0;
    },
    nameOf: (place) => names[place - 1] ?? 'what every thread rests on',
  };
}

type Comparison = () => number;

/**
 * Compares all in a row: asked before every message, so it is written out. A loop looks each property up by name, which
 * takes some fifty times as long.
 */
function compile(
  owners: readonly Record<PropertyKey, unknown>[],
  keys: readonly PropertyKey[],
  values: readonly unknown[],
): Comparison {
  const different = [...new Set(owners)];
  const list = (letter: string, of: readonly unknown[]): string => of.map((_, i) => `${letter}${i}`).join();
  const lines = owners.map(
    (owner, i) => `if (o${different.indexOf(owner)}[k${i}] !== v${i}) return ${i + 1};`,
  );
  const names = `const [${list('o', different)}] = owners, [${list('k', keys)}] = keys, [${list('v', values)}] = values;`;
  try {
    const make = new Function(
      'owners',
      'keys',
      'values',
      `${names} return () => { ${lines.join(' ')} return 0; };`,
    );
    return (make as (...given: readonly unknown[]) => Comparison)(different, keys, values);
  } catch (error) {
    // A process may have been started without the right to make code.
    if (!(error instanceof EvalError)) throw error;
    const count = owners.length;
    return () => {
      for (let i = 0; i < count; i++) if (owners[i]![keys[i]!] !== values[i]) return i + 1;
      return 0;
    };
  }
}
