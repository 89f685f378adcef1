/**
 * Receivers put secrets into their URLs (`?token=…`): they are kept for the call and shown to nobody. What a receiver
 * answers may repeat them.
 */
const MASK = '***';
/** Anything shorter is no secret, and masking it would tear up the text. */
const SHORTEST_SECRET = 4;

/** The URL with every value of its query, its fragment and its user part masked. Takes what is no URL, too. */
export function maskUrl(url: string): string {
  const [, place = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/su.exec(url) ?? [];
  const shown = place.replace(/^([a-z][\w+.-]*:)?\/\/[^/@]*@/i, (_, scheme = '') => `${scheme}//${MASK}@`);
  const masked = query?.split('&').map((part) => part.replace(/^([^=]*=)?.*$/su, `$1${MASK}`));
  return `${shown}${masked === undefined ? '' : `?${masked.join('&')}`}${fragment === undefined ? '' : `#${MASK}`}`;
}

/** `text` without the secrets of the URL and without `others`, in whatever form they are repeated. */
export function maskIn(text: string, url: string, others: readonly string[]): string {
  const query = /^[^?#]*\?([^#]*)/su.exec(url)?.[1] ?? '';
  const raw = query.split('&').map((part) => part.replace(/^[^=]*=/u, ''));
  const decoded = [...new URLSearchParams(query).values()];
  return [...new Set([...raw, ...decoded, ...others])]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
}

/** The receiver as a name: host and port, `self` for paths of this server and for what is no URL. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '') || 'self';
