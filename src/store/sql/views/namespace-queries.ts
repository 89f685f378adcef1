/** Lists the namespaces that hold items the caller may see (A2), in the order of their labels. */
import { endOfPath, fromPath, toPath, toReversedPath, type Namespace } from '../../../item/namespace.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { NamespaceMatch, NamespacePage, NamespaceSearch } from '../../port/views/items.ts';
import type { Ask, Scan } from '../ask.ts';
import { isAllowed, VISIBLE, type PlaceRow } from './item-record.ts';

/** `isAllowed` is null for an item that is not there any more. */
interface SeenPath {
  readonly path: string;
  readonly itemId: string;
  readonly isAllowed: boolean | null;
}

type Range =
  | { readonly reversed: string; readonly end: string }
  /** From the item `id` in `path` on; `bound` ends the range. */
  | { readonly path: string; readonly id: string; readonly bound?: string };

const WINDOW_ROWS = 1_000;

/** The first items of a range, one more than a window has. */
export const PATHS: Scan<[Range, Filter | undefined, number], SeenPath[]> = {
  name: 'items.paths',
  async answer(ask, range, access, now) {
    const { bounds, order } = ask.dialect;
    const within = 'bound' in range ? `AND ${bounds('path', '<=', 'bound')} AND path < @bound` : '';
    const where =
      'reversed' in range
        ? `${bounds('reversed', '>=', 'reversed')} AND ${bounds('reversed', '<=', 'end')}
           AND reversed >= @reversed AND reversed < @end`
        : `${bounds('path', '>=', 'path')} AND (path, item_id) >= (@path, @id) ${within}`;
    const needsValue = access !== undefined && access.length > 0;
    const found = await ask.all<PlaceRow & { path: string; seen: number; data: string | null }>(
      `SELECT item_id, namespace, key, path, CASE WHEN ${VISIBLE} THEN 1 ELSE 0 END AS seen,
         ${needsValue ? '(SELECT data FROM item_values WHERE item_values.item_id = items.item_id)' : 'NULL'} AS data
       FROM items WHERE ${where} ORDER BY ${order('path')}, item_id LIMIT ${WINDOW_ROWS + 1}`,
      { now, ...range },
    );
    return found.map((row) => ({
      path: row.path,
      itemId: row.item_id,
      isAllowed: row.seen === 1 ? isAllowed(row, access) : null,
    }));
  },
};

/** Pages of namespaces, none of them twice. */
export async function* scanNamespaces(
  ask: Ask,
  { matches, maxDepth = Infinity, access, now }: NamespaceSearch,
): AsyncGenerator<NamespacePage> {
  const read = (range: Range): Promise<SeenPath[]> => ask.scan(PATHS, range, access, now);
  let shown: string | undefined;
  const toPage = (found: readonly SeenPath[]): NamespacePage => {
    const namespaces: Namespace[] = [];
    let seen = 0;
    for (const { path, isAllowed: allowed } of found) {
      const namespace = fromPath(path);
      if (allowed === null || !matches.every((match) => isMatch(namespace, match))) continue;
      seen += 1;
      const cut = namespace.slice(0, maxDepth);
      if (!allowed || toPath(cut) === shown) continue;
      shown = toPath(cut);
      namespaces.push(cut);
    }
    return { namespaces, seen };
  };

  const suffix = literalTail(matches);
  if (suffix !== undefined) {
    const few = await read({ reversed: suffix, end: endOfPath(suffix) });
    if (few.length <= WINDOW_ROWS) return yield toPage(few);
  }

  const head = literalHead(matches);
  const bound = head === '' ? {} : { bound: endOfPath(head) };
  let [path, id] = [head, ''];
  for (;;) {
    const found = (await read({ path, id, ...bound })).slice(0, WINDOW_ROWS);
    yield toPage(found);
    const last = found.at(-1);
    if (last === undefined || found.length < WINDOW_ROWS) return;
    // What lies in a namespace that was shown tells nothing more.
    const isShown = shown !== undefined && toPath(fromPath(last.path).slice(0, maxDepth)) === shown;
    if (isShown && fromPath(last.path).length >= maxDepth) [path, id] = [endOfPath(shown!), ''];
    else if (isShown) [path, id] = [`${last.path}\u0001`, ''];
    else [path, id] = [last.path, `${last.itemId}\u0001`];
  }
}

function isMatch(namespace: Namespace, { at, path }: NamespaceMatch): boolean {
  if (path.length > namespace.length) return false;
  const from = at === 'prefix' ? 0 : namespace.length - path.length;
  return path.every((label, index) => label === '*' || label === namespace[from + index]);
}

/** The path that all matches begin with. */
function literalHead(matches: readonly NamespaceMatch[]): string {
  const heads = matches.filter(({ at }) => at === 'prefix').map(({ path }) => untilWildcard(path));
  return toPath(heads.sort((a, b) => b.length - a.length)[0] ?? []);
}

/** The reversed path that all matches begin with, when there is one. */
function literalTail(matches: readonly NamespaceMatch[]): string | undefined {
  const tails = matches
    .filter(({ at }) => at === 'suffix')
    .map(({ path }) => untilWildcard([...path].reverse()))
    .filter((tail) => tail.length > 0);
  const longest = tails.sort((a, b) => b.length - a.length)[0];
  return longest && toReversedPath([...longest].reverse());
}

function untilWildcard(path: Namespace): Namespace {
  const at = path.indexOf('*');
  return at === -1 ? path : path.slice(0, at);
}
