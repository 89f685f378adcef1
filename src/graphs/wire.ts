import { setMember, type Json, type JsonObject } from '../kernel/json.ts';
import { nameOf } from '../kernel/tagged.ts';
import { MAX_VALUE_DEPTH, toShape } from './shapes.ts';

/**
 * Converts a runtime value to its wire form; equals `flatten` of its stored form. Never throws for unstorable values,
 * because streams show them too: functions are dropped, cycles and excessive depth become placeholders.
 */
export function toWire(value: unknown): Json {
  return convert(value, []) ?? null;
}

function convert(value: unknown, owners: object[]): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
      return value.toString();
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (owners.includes(value)) return '[Circular]';
  if (owners.length > MAX_VALUE_DEPTH) return '[Too deep]';
  owners.push(value);
  const wire = convertObject(value, owners);
  owners.pop();
  return wire;
}

function convertObject(value: object, owners: object[]): Json | undefined {
  const item = (each: unknown): Json => convert(each, owners) ?? null;
  const shape = toShape(value);
  switch (shape.kind) {
    case 'array':
      return Array.from(shape.v, item);
    case 'set':
      return shape.v.map(item);
    case 'plain':
    case 'message':
    case 'command':
    case 'send':
      return members(shape.v, owners);
    case 'map': {
      const flat: JsonObject = {};
      for (const [key, each] of shape.v) {
        const name = nameOf(item(key));
        const wire = convert(each ?? null, owners);
        if (wire !== undefined) setMember(flat, name, wire);
      }
      return flat;
    }
    case 'other':
      return convert(shape.v, owners);
    case 'promise':
      return undefined;
    default:
      return shape.v;
  }
}

function members(fields: Readonly<Record<string, unknown>>, owners: object[]): JsonObject {
  const flat: JsonObject = {};
  for (const key of Object.keys(fields)) {
    const wire = convert(fields[key], owners);
    if (wire !== undefined) setMember(flat, key, wire);
  }
  return flat;
}
