/** Masks secrets in webhook URLs (`?token=…`), also where a receiver's answer repeats them. */
const MASK = '***';
/** Shorter values are not secrets, and masking them would garble the text. In characters. */
const MIN_SECRET_CHARACTERS = 4;

/** Masks query values, fragment and user part of a URL; also accepts text that is not a URL. */
export function maskUrl(url: string): string {
  const [, base = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/su.exec(url) ?? [];
  const shown = base.replace(/^([a-z][\w+.-]*:)?\/\/[^/@]*@/i, (_, scheme = '') => `${scheme}//${MASK}@`);
  const masked = query?.split('&').map((part) => part.replace(/^([^=]*=)?.*$/su, `$1${MASK}`));
  return `${shown}${masked === undefined ? '' : `?${masked.join('&')}`}${fragment === undefined ? '' : `#${MASK}`}`;
}

/** Masks the URL's secrets and `others` in `text`, raw or percent-decoded. */
export function maskIn(text: string, url: string, others: readonly string[]): string {
  const query = /^[^?#]*\?([^#]*)/su.exec(url)?.[1] ?? '';
  const raw = query.split('&').map((part) => part.replace(/^[^=]*=/u, ''));
  const decoded = [...new URLSearchParams(query).values()];
  return [...new Set([...raw, ...decoded, ...others])]
    .filter((secret) => secret.length >= MIN_SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
}

/** Host and port of the receiver; `self` for paths of this server and for text that is not a URL. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '') || 'self';
