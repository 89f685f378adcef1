/** Finds a thread by the first characters of its id. */
import { isUuid } from '../kernel/ids.ts';
import type { History } from '../log/sqlite/history.ts';

/** Id prefix as the thread list prints it, with or without the ellipsis. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}…?$/i;
const MAX_NAMED = 5;

/** Throws for a text that cannot be the beginning of an id. */
export function assertPrefix(given: string): void {
  if (!PREFIX.test(given))
    throw new Error(`--thread: expected an id or its first characters, found "${given}"`);
}

/** The id of the thread that an id or its first characters name. Throws when none or several do. */
export async function findThread(history: History, given: string): Promise<string> {
  assertPrefix(given);
  const prefix = given.replace('…', '').toLowerCase();
  if (isUuid(prefix)) return prefix;
  const ids = await history.views.threadIds(prefix, MAX_NAMED);
  const [id] = ids;
  if (id === undefined) throw new Error(`--thread: found no thread whose id begins with ${prefix}`);
  if (ids.length > 1)
    throw new Error(`--thread: found several threads that begin with ${prefix}: ${ids.join(', ')}`);
  return id;
}
