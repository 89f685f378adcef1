/** Classifies runtime values into the kinds that the stored form and the wire form distinguish. */
import { isRegExp } from 'node:util/types';
import { isMessage, toMessageFields } from './message-form.ts';

/** A value that cannot be stored; the message has its path. */
export class UnstorableValue extends Error {
  override readonly name = 'UnstorableValue';
}

/** Maximum nesting in levels. Deeper values would overflow the stack of every recursive reader. */
export const MAX_VALUE_DEPTH = 500;

type Fields = Record<string, unknown>;

export type Shape =
  | { readonly kind: 'message' | 'command' | 'send'; readonly v: Fields }
  | { readonly kind: 'date'; readonly v: string | null }
  | { readonly kind: 'bytes' | 'regexp'; readonly v: string }
  | { readonly kind: 'map'; readonly v: readonly (readonly [unknown, unknown])[] }
  | { readonly kind: 'set' | 'array'; readonly v: readonly unknown[] }
  | { readonly kind: 'error'; readonly v: { name: string; message: string } }
  | { readonly kind: 'plain'; readonly v: Fields }
  /** The result of the value's `toJSON` method. */
  | { readonly kind: 'other'; readonly v: unknown }
  | { readonly kind: 'promise' };

export function toShape(value: object): Shape {
  if (Array.isArray(value)) return { kind: 'array', v: value };
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype === Object.prototype || prototype === null) && !hasMethod(value, 'toJSON'))
    return { kind: 'plain', v: value as Fields };
  if (isMessage(value)) return { kind: 'message', v: toMessageFields(value) };
  if (value instanceof Date)
    return { kind: 'date', v: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  if (value instanceof Map) return { kind: 'map', v: [...(value as Map<unknown, unknown>)] };
  if (value instanceof Set) return { kind: 'set', v: [...(value as Set<unknown>)] };
  if (isRegExp(value)) return { kind: 'regexp', v: String(new RegExp(value)) };
  if (value instanceof Error) return { kind: 'error', v: { name: value.name, message: value.message } };
  if (value instanceof ArrayBuffer) return { kind: 'bytes', v: Buffer.from(value).toString('base64') };
  if (ArrayBuffer.isView(value)) return viewShape(value);
  return instanceShape(value as Fields);
}

function viewShape(view: ArrayBufferView): Shape {
  if (view instanceof Uint8Array || view instanceof DataView)
    return {
      kind: 'bytes',
      v: Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64'),
    };
  return { kind: 'array', v: Array.from(view as unknown as ArrayLike<number | bigint>) };
}

function instanceShape(value: Fields): Shape {
  if (hasMethod(value, 'then')) return { kind: 'promise' };
  // Class markers such as `lg_name` are checked on class instances only; in plain data they are user data.
  if (value['lg_name'] === 'Command')
    return { kind: 'command', v: present(value, ['goto', 'update', 'resume', 'graph']) };
  if (value['lg_name'] === 'Send') return { kind: 'send', v: present(value, ['node', 'args', 'timeout']) };
  if (value['lc_serializable'] !== undefined && value['lc_kwargs'] instanceof Object)
    return { kind: 'plain', v: value['lc_kwargs'] as Fields };
  if (hasMethod(value, 'toJSON')) return { kind: 'other', v: (value as { toJSON(): unknown }).toJSON() };
  return { kind: 'plain', v: value };
}

function present(value: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])));
}

const hasMethod = (value: object, name: string): boolean =>
  typeof (value as Record<string, unknown>)[name] === 'function';
