/**
 * W4 Which URLs a webhook may go to: asked when a run is created and again, for the address, when a socket connects.
 * Pure: names are resolved by the connector, which asks `isPublicAddress` for every answer.
 */
import ipaddr from 'ipaddr.js';

export interface UrlPolicy {
  /** Loopback, private and link-local targets are allowed: for development and for receivers on the same host. */
  readonly allowPrivate: boolean;
}

export type CheckedUrl =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string };

const LONGEST_URL = 2048;

/** Names that mean this machine or this network whatever a resolver says. */
const INTERNAL_SUFFIXES = ['localhost', 'local', 'internal', 'localdomain', 'home.arpa', 'svc'];

const deny = (problem: string): CheckedUrl => ({ ok: false, problem });

export function checkWebhookUrl(raw: string, policy: UrlPolicy): CheckedUrl {
  if (raw.length === 0 || raw.length > LONGEST_URL)
    return deny(`expected a URL of 1 to ${LONGEST_URL} characters`);
  // The URL parser drops these silently, so a check of the parsed text comes too late.
  if (/[\u0000-\u0020\u007f\\]/.test(raw))
    return deny('the URL holds white space, a control character or "\\"');
  if (!/^https?:\/\//i.test(raw)) return deny('expected an absolute http or https URL');
  if (!URL.canParse(raw)) return deny('the URL cannot be parsed');
  const url = new URL(raw);
  if (url.username !== '' || url.password !== '') return deny('the URL may not hold a user name or password');
  if (policy.allowPrivate) return { ok: true, url };
  const host = bareHost(url.hostname);
  if (ipaddr.isValid(host))
    return isPublicAddress(host) ? { ok: true, url } : deny(`the address ${host} is not public`);
  if (INTERNAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)))
    return deny(`the host ${host} is internal`);
  if (!host.includes('.')) return deny(`the host ${host} is not a public name`);
  return { ok: true, url };
}

const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();

/** Ranges that ipaddr.js calls unicast although they lead inside: IPv4-compatible IPv6, and a cloud's wire server. */
const INTERNAL_RANGES = ['::/96', '168.63.129.16/32'].map((text) => ipaddr.parseCIDR(text));

/** Whether an IP address literal is reachable on the open internet. Anything unclear is not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return !INTERNAL_RANGES.some((range) => ip.kind() === range[0].kind() && ip.match(range));
}
