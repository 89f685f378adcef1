/** Limits a state to the members that a client selects, and avoids reading the others where possible. */
import type { StateOrder } from '../../graphs/port.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import { pick } from '../select.ts';

export const STATE_MEMBERS = [
  ...['values', 'next', 'tasks', 'checkpoint', 'metadata', 'created_at', 'parent_checkpoint', 'interrupts'],
];
/** Prefix of a single key of the values; the key itself may contain periods. */
const KEY_PREFIX = 'values.';

/** The parts to read; undefined means the whole state. */
export function toPart(select: readonly string[] | undefined): StateOrder['part'] | undefined {
  if (select === undefined || select.length === 0 || select.includes('values')) return undefined;
  return {
    keys: select.filter((name) => name.startsWith(KEY_PREFIX)).map((name) => name.slice(KEY_PREFIX.length)),
    next: select.includes('next') || select.includes('interrupts'),
    tasks: select.includes('tasks'),
  };
}

/** Whether a client may select a member of this name. */
export const isSelectable = (name: string): boolean =>
  STATE_MEMBERS.includes(name) || name.startsWith(KEY_PREFIX);

/** The selected members. */
export function selectMembers(
  state: Readonly<Record<string, Sendable>>,
  select: readonly string[] | undefined,
): Record<string, Sendable> {
  if (select === undefined || select.length === 0) return state;
  return pick(
    state,
    select.map((name) => (name.startsWith(KEY_PREFIX) ? 'values' : name)),
  );
}
