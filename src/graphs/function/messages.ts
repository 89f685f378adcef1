/** Message lists of plain functions: normalising and merging. */
import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { Ids } from '../../kernel/ids.ts';

/** A message in wire form; its values may still be runtime values such as dates. */
export type Message = { type: string; content: unknown; id: string } & Record<string, unknown>;

const TYPES: ReadonlyMap<string, string> = new Map([
  ['user', 'human'],
  ['human', 'human'],
  ['assistant', 'ai'],
  ['ai', 'ai'],
  ['system', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
]);

/**
 * Converts a message or a list of messages to wire form: `role` becomes `type`, a string becomes a human message, and a
 * missing id is generated. Throws a `TypeError` for anything else.
 */
export function toMessages(value: unknown, ids: Ids): Message[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.map((item, index) => toMessage(item, index, ids));
}

function toMessage(value: unknown, index: number, ids: Ids): Message {
  if (typeof value === 'string') return { type: 'human', content: value, id: ids.uuid() };
  if (!isObject(value)) throw new TypeError(`messages[${index}] is no message`);
  const { role, type, content, id, ...rest } = value;
  const kind = role ?? type;
  if (typeof kind !== 'string') throw new TypeError(`messages[${index}] has neither a role nor a type`);
  const known = typeof id === 'string' && id !== '' ? id : ids.uuid();
  return { type: TYPES.get(kind) ?? kind, content: content ?? '', id: known, ...rest };
}

/**
 * Appends messages; a message with a known id replaces the existing one. A message of type `remove` deletes the message
 * with its id, or all messages if the id is `__remove_all__`, as in LangGraph.
 */
export function mergeMessages(present: readonly Message[], added: readonly Message[]): Message[] {
  let merged = [...present];
  for (const message of added) {
    const at = merged.findIndex(({ id }) => id === message.id);
    if (message.type === 'remove')
      merged = message.id === '__remove_all__' ? [] : merged.filter((_, index) => index !== at);
    else if (at === -1) merged.push(message);
    else merged[at] = message;
  }
  return merged;
}

/** The messages of a stored state, which another kind of graph may have written. */
export const asMessages = (value: unknown, ids: Ids): Message[] =>
  value === undefined || value === null ? [] : toMessages(value as JsonObject, ids);
