/** The members of a state that a client selects: what is not selected is left out, and not read where that can be. */
import type { StateOrder } from '../graphs/port.ts';
import type { Sendable } from '../kernel/json-text.ts';
import { pick } from './schemas/common.ts';

const MEMBERS: ReadonlySet<string> = new Set([
  ...['values', 'next', 'tasks', 'checkpoint', 'metadata', 'created_at', 'parent_checkpoint', 'interrupts'],
]);
/** Before a key of the values, which may have periods itself. */
const KEY = 'values.';

/** Undefined for all of a state. */
export function toPart(select: readonly string[] | undefined): StateOrder['part'] | undefined {
  if (select === undefined || select.length === 0 || select.includes('values')) return undefined;
  return {
    keys: select.filter((name) => name.startsWith(KEY)).map((name) => name.slice(KEY.length)),
    next: select.includes('next') || select.includes('interrupts'),
    tasks: select.includes('tasks'),
  };
}

/** Names of other members mean nothing. */
export function selectMembers(
  state: Readonly<Record<string, Sendable>>,
  select: readonly string[] | undefined,
): Record<string, Sendable> {
  if (select === undefined || select.length === 0) return state;
  const members = select.map((name) => (name.startsWith(KEY) ? 'values' : name));
  const known = members.filter((name) => MEMBERS.has(name));
  return known.length === 0 ? {} : pick(state, known);
}
