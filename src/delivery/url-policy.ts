/**
 * W4 Decides which URLs a webhook may go to: checked when the run is created and before every attempt; addresses again
 * when a socket connects. Pure: the connector resolves names and checks each address with `findAddressProblem`.
 */
import ipaddr from 'ipaddr.js';

export interface UrlPolicy {
  /**
   * Allows loopback and private targets and paths of this server, for development and local receivers. Link-local
   * addresses, where clouds serve credentials, stay forbidden.
   */
  readonly allowPrivate: boolean;
  readonly requireHttps: boolean;
  /** Hosts, or `*.suffix` for subdomains; empty: all public hosts. */
  readonly allowedDomains: readonly string[];
  /** Empty: 80, 443, and ports above 1023 except well-known databases and brokers. */
  readonly allowedPorts: readonly number[];
  readonly maxLength: number;
  /** All addresses of this machine, including public ones. */
  readonly ownAddresses?: () => readonly string[];
}

export type CheckedUrl =
  | { readonly ok: true; readonly kind: 'remote'; readonly url: URL }
  /** A path of this server. */
  | { readonly ok: true; readonly kind: 'own' }
  | { readonly ok: false; readonly problem: string };

/** Names that always denote this machine or network. */
const INTERNAL_SUFFIXES = ['localhost', 'local', 'internal', 'localdomain', 'home.arpa', 'svc'];

/** Ports above 1023 of services that a POST can harm. */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  ...[1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6000, 6379],
  ...[6443, 8086, 8500, 9042, 9092, 9200, 9300, 10_250, 10_255, 11_211, 15_672, 27_017, 27_018, 50_070],
]);

const deny = (problem: string): CheckedUrl => ({ ok: false, problem });

/** `problem` names the broken rule and its configuration key, if it has one. */
export function checkWebhookUrl(raw: string, policy: UrlPolicy): CheckedUrl {
  if (raw.length === 0 || raw.length > policy.maxLength)
    return deny(`expected a URL of 1 to ${policy.maxLength} characters (webhooks.url.max_url_length)`);
  // Checks the raw text, because the URL parser silently drops these characters.
  if (/[\u0000-\u0020\u007f\\]/.test(raw))
    return deny('the URL holds white space, a control character or "\\"');
  if (/^\/(?!\/)/.test(raw))
    return policy.allowPrivate
      ? { ok: true, kind: 'own' }
      : deny('paths of this server are not allowed (webhooks.url.disable_loopback)');
  if (!/^https?:\/\/[^/]/i.test(raw)) return deny('expected an absolute http or https URL');
  if (!URL.canParse(raw)) return deny('the URL cannot be parsed');
  const url = new URL(raw);
  const problem = findProblem(url, policy);
  return problem === undefined ? { ok: true, kind: 'remote', url } : deny(problem);
}

function findProblem(url: URL, policy: UrlPolicy): string | undefined {
  if (url.username !== '' || url.password !== '') return 'the URL may not hold a user name or password';
  if (policy.requireHttps && url.protocol !== 'https:')
    return 'expected an https URL (webhooks.url.require_https)';
  const host = bareHost(url.hostname);
  const { allowedDomains } = policy;
  if (allowedDomains.length > 0 && !allowedDomains.some((domain) => isWithin(host, domain)))
    return `the host ${host} is not allowed (webhooks.url.allowed_domains)`;
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (!isAllowedPort(port, policy)) return `the port ${port} is not allowed (webhooks.url.allowed_ports)`;
  if (ipaddr.isValid(host)) return findAddressProblem(host, policy);
  if (policy.allowPrivate) return undefined;
  if (INTERNAL_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)))
    return `the host ${host} is internal`;
  if (!host.includes('.')) return `the host ${host} is not a public name`;
  return undefined;
}

export const bareHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();

/** `*.corp.com` matches subdomains of `corp.com`, not `corp.com` itself. */
const isWithin = (host: string, domain: string): boolean =>
  domain.startsWith('*.')
    ? host.endsWith(domain.slice(1)) && host.length > domain.length - 1
    : host === domain;

function isAllowedPort(port: number, { allowedPorts, allowPrivate }: UrlPolicy): boolean {
  if (port === 0) return false;
  if (allowedPorts.length > 0) return allowedPorts.includes(port);
  return allowPrivate || port === 80 || port === 443 || (port >= 1024 && !SERVICE_PORTS.has(port));
}

/** Internal ranges that ipaddr.js classifies as unicast: IPv4-compatible IPv6, and the wire server of Azure. */
const INTERNAL_RANGES = ['::/96', '168.63.129.16/32'].map((text) => ipaddr.parseCIDR(text));

/** Tells whether an IP literal is publicly reachable; false when unclear. */
function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return !INTERNAL_RANGES.some((range) => ip.kind() === range[0].kind() && ip.match(range));
}

/** Tells whether an address leads to a link-local one, also through an IPv6 translator. */
function isLinkLocal(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  return ip.range() === 'linkLocal' || embeddedIn(ip)?.range() === 'linkLocal';
}

/** Extracts the IPv4 address that translators and tunnels read from an IPv6 address. */
function embeddedIn(ip: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | undefined {
  if (!(ip instanceof ipaddr.IPv6)) return undefined;
  const bytes = ip.toByteArray();
  const range = ip.range();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  if (range === 'teredo') return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff));
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0);
  const isTranslated = range === 'rfc6052' || range === 'rfc6145';
  return isCompatible || isTranslated ? new ipaddr.IPv4(bytes.slice(12)) : undefined;
}

/** Describes why no socket may connect to the address; undefined when it may. */
export function findAddressProblem(address: string, policy: UrlPolicy): string | undefined {
  if (policy.allowPrivate)
    return isLinkLocal(address) ? `the address ${address} is link-local, a blocked IP range` : undefined;
  if (!isPublicAddress(address)) return `the address ${address} is not public`;
  const plain = (text: string): string => ipaddr.process(text).toNormalizedString();
  const own = policy.ownAddresses?.() ?? [];
  const isOwn = own.some((each) => ipaddr.isValid(each) && plain(each) === plain(address));
  return isOwn ? `the address ${address} is this machine's own` : undefined;
}
