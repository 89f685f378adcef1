/**
 * Serves the browser application below `/studio`. It is public and contains no data: the page gets all of that from the
 * API with the credentials of its user (A1).
 */
import { accepts } from 'hono/accepts';
import type { ServerContext } from '../context.ts';
import type { Answer } from '../router.ts';
import { foreignHost, noRoute, problemReply, wrongMethod } from '../replies.ts';
import { loadStudio, type StudioFiles } from './files.ts';

const PATH = '/studio';
const ASSETS = 'assets/';

const HEADERS = {
  'content-security-policy': "default-src 'self'; base-uri 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
/** Names of assets contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** `path` without the mount prefix. */
export const isStudio = (path: string): boolean => path === PATH || path.startsWith(`${PATH}/`);

export function studioPage({ http, isLoopback, onFault }: ServerContext): Answer {
  let files: Promise<StudioFiles> | undefined;
  const load = (): Promise<StudioFiles> => {
    files ??= loadStudio(http.mountPrefix);
    files.catch((error: unknown) => {
      files = undefined;
      onFault(error, 'loading the studio');
    });
    return files;
  };
  return async (c) => {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return problemReply(wrongMethod(['GET', 'HEAD']));
    // A page of another origin whose name resolves to this machine could otherwise read what the studio shows.
    if (isLoopback && !isLocalName(new URL(c.req.url).hostname)) return problemReply(foreignHost());
    const name = c.req.path.slice(PATH.length + 1);
    const found = (await load()).get(name.startsWith(ASSETS) ? name : '');
    if (found === undefined) return problemReply(noRoute());
    const { type, etag, encoded } = found;
    const encoding = ['br', 'gzip'].find((each) => encoded.has(each) && takes(c, each)) ?? 'identity';
    const headers = {
      ...HEADERS,
      'content-type': type,
      etag,
      vary: 'accept-encoding',
      'cache-control': name.startsWith(ASSETS) ? IMMUTABLE : 'no-cache',
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    };
    if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers);
    return c.body(encoded.get(encoding)!, 200, headers);
  };
}

const LOCAL_NAME = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
export const isLocalName = (hostname: string): boolean => LOCAL_NAME.test(hostname);

type Asked = Parameters<typeof accepts>[0];

const takes = (c: Asked, encoding: string): boolean =>
  accepts(c, { header: 'Accept-Encoding', supports: [encoding], default: '' }) === encoding;

/** True for a browser that opens an address; other clients get JSON. */
export const prefersPage = (c: Asked): boolean =>
  accepts(c, { header: 'Accept', supports: ['application/json', 'text/html'], default: '' }) === 'text/html';
