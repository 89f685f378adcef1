import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { Ids } from '../../kernel/ids.ts';

/** A message in wire form; members may still be runtime values such as dates. */
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
 * One message or a list of them in wire form: `role` becomes `type`, a bare text becomes a human message, a missing
 * id is filled in. Throws when something in it is no message.
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
 * Appends messages; one whose id is known replaces the older one in its place. A message of type `remove` deletes the
 * message with its id, or all of them for the id `__remove_all__`, as in LangGraph.
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

/** What a state that came from somewhere else holds as its messages. */
export const asMessages = (value: unknown, ids: Ids): Message[] =>
  value === undefined || value === null ? [] : toMessages(value as JsonObject, ids);
