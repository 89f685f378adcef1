/** Lists the namespaces that hold items the caller may see (A2), in the order of their labels. */
import { endOfPath, fromPath, toPath, toReversedPath, type Namespace } from '../../../item/namespace.ts';
import type { Cell, Row, RowReader } from '../../port/rows.ts';
import type { Filter } from '../../../kernel/filter.ts';
import { allowedBy } from './item-queries.ts';

/** `*` stands for any one label. */
export interface NamespaceMatch {
  readonly at: 'prefix' | 'suffix';
  readonly path: Namespace;
}

export interface NamespaceSearch {
  readonly matches: readonly NamespaceMatch[];
  /** Deeper namespaces are cut to this many labels. */
  readonly maxDepth?: number;
  readonly access?: Filter;
  readonly now: number;
}

/** `seen`: items that were looked at, for a limit of the caller's. */
export interface NamespacePage {
  readonly namespaces: readonly Namespace[];
  readonly seen: number;
}

interface NamespaceRow extends Row {
  path: string;
  item_id: string;
  allowed: number;
}

const WINDOW = 1_000;

/** Pages of namespaces, none of them twice. */
export async function* scanNamespaces(
  rows: RowReader,
  { matches, maxDepth = Infinity, access, now }: NamespaceSearch,
): AsyncGenerator<NamespacePage> {
  const allowed = allowedBy(access);
  const read = (where: string, params: Record<string, Cell>, limit: string): Promise<NamespaceRow[]> =>
    rows.search<NamespaceRow>(
      `SELECT path, item_id,
         CASE WHEN (expires_at IS NULL OR expires_at > @now) THEN ${allowed.sql} END AS allowed
       FROM items WHERE ${where} ORDER BY path, item_id ${limit}`,
      { now, ...allowed.params, ...params },
    );
  let shown: string | undefined;
  const toPage = (found: readonly NamespaceRow[]): NamespacePage => {
    const namespaces: Namespace[] = [];
    let seen = 0;
    for (const { path, allowed } of found) {
      const namespace = fromPath(path);
      if (allowed === null || !matches.every((match) => isMatch(namespace, match))) continue;
      seen += 1;
      const cut = namespace.slice(0, maxDepth);
      if (allowed === 0 || toPath(cut) === shown) continue;
      shown = toPath(cut);
      namespaces.push(cut);
    }
    return { namespaces, seen };
  };

  const suffix = literalTail(matches);
  if (suffix !== undefined) {
    const where = 'reversed >= @reversed AND reversed < @end';
    const range = { reversed: suffix, end: endOfPath(suffix) };
    const few = await read(where, range, `LIMIT ${WINDOW + 1}`);
    if (few.length <= WINDOW) return yield toPage(few);
  }

  const head = literalHead(matches);
  const bound = head === '' ? {} : { bound: endOfPath(head) };
  const within = head === '' ? '' : ' AND path < @bound';
  let [path, id] = [head, ''];
  for (;;) {
    const found = await read(
      `(path, item_id) >= (@path, @id)${within}`,
      { path, id, ...bound },
      `LIMIT ${WINDOW}`,
    );
    yield toPage(found);
    const last = found.at(-1);
    if (last === undefined || found.length < WINDOW) return;
    // What lies in a namespace that was shown tells nothing more.
    const isShown = shown !== undefined && toPath(fromPath(last.path).slice(0, maxDepth)) === shown;
    if (isShown && fromPath(last.path).length >= maxDepth) [path, id] = [endOfPath(shown!), ''];
    else if (isShown) [path, id] = [`${last.path}\u0001`, ''];
    else [path, id] = [last.path, `${last.item_id}\u0001`];
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
