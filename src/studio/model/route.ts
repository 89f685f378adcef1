/** The address holds what the page shows: a colleague who opens it sees the same moment. */
import { computed, signal } from '@preact/signals';
import { base } from '../api/http.ts';

export type Route =
  | { readonly page: 'home' }
  | { readonly page: 'threads' }
  /** `openedId`: the thread is in an opened file, for reading. */
  | { readonly page: 'thread'; readonly threadId: string; readonly openedId: string | undefined }
  | { readonly page: 'compare' }
  | { readonly page: 'server' }
  | { readonly page: 'unknown'; readonly path: string };

const ROOT = `${base}/studio`;
const current = signal(location.href);

addEventListener('popstate', () => (current.value = location.href));

const url = computed(() => new URL(current.value));

export const place = computed<Route>(() => {
  const path = url.value.pathname.slice(ROOT.length).replace(/\/+$/, '');
  const [, openedId, threadId] = /^(?:\/opened\/([^/]+))?\/threads\/([^/]+)$/.exec(path) ?? [];
  if (threadId !== undefined) return { page: 'thread', threadId: decodeURIComponent(threadId), openedId };
  if (path === '' || path === '/index.html') return { page: 'home' };
  if (path === '/threads') return { page: 'threads' };
  if (path === '/compare') return { page: 'compare' };
  if (path === '/server') return { page: 'server' };
  return { page: 'unknown', path };
});

/** Member of the query; undefined when it is absent. */
export const query = (name: string): string | undefined => url.value.searchParams.get(name) ?? undefined;

/** Address of a page of the studio. */
export function hrefOf(
  path: string,
  members: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return `${ROOT}${path}${text === '' ? '' : `?${text}`}`;
}

export function go(href: string, replaces = false): void {
  if (replaces) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  current.value = location.href;
}

/** Changes members of the query and leaves the others; `undefined` removes one. Steps of the slider make no history. */
export function setQuery(members: Readonly<Record<string, string | number | undefined>>): void {
  const next = new URL(current.peek());
  for (const [name, value] of Object.entries(members))
    if (value === undefined) next.searchParams.delete(name);
    else next.searchParams.set(name, String(value));
  go(next.href, true);
}

/** Links within the studio change the page without loading it again. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a');
  if (link == null || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || link.target !== '' || link.hasAttribute('download'))
    return;
  if (link.origin !== location.origin || !link.pathname.startsWith(ROOT)) return;
  event.preventDefault();
  go(link.href);
}
