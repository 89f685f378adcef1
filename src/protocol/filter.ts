/** Matches a thread's events against a client's subscription. */
import type { Json } from '../kernel/json.ts';
import { CHANNEL_OF, type Draft, type Namespace } from './event.ts';

export interface Subscription {
  readonly channels: readonly string[];
  /** Namespace prefixes, of which one must match; an empty or absent list matches everything. */
  readonly namespaces?: readonly Namespace[] | undefined;
  /** The maximum number of segments that an event's namespace may have after the prefix. */
  readonly depth?: number | undefined;
}

const CHANNELS: ReadonlySet<string> = new Set(Object.values(CHANNEL_OF));

export const isChannel = (channel: string): boolean =>
  CHANNELS.has(channel) || (channel.startsWith('custom:') && channel.length > 'custom:'.length);

const ALLOWED = `Allowed: ${[...CHANNELS, 'custom:<name>'].join(', ')}`;

/** The error message for invalid `channels`; undefined when they are valid. */
export function problemOfChannels(channels: Json | undefined): string | undefined {
  if (!Array.isArray(channels) || channels.length === 0)
    return `channels must be a list of at least one channel. ${ALLOWED}`;
  const unknown = channels.filter((each) => typeof each !== 'string' || !isChannel(each));
  if (unknown.length === 0) return undefined;
  const named = unknown.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(', ');
  return `channels contains unsupported entries: ${named.slice(0, 200)}. ${ALLOWED}`;
}

export function matches({ channels, namespaces, depth }: Subscription, event: Draft): boolean {
  return (
    channels.some((channel) => isOf(channel, event)) && isWithin(event.namespace, namespaces ?? [], depth)
  );
}

function isOf(channel: string, { method, name }: Draft): boolean {
  if (channel === CHANNEL_OF[method]) return true;
  return method === 'custom' && name !== undefined && channel === `custom:${name}`;
}

function isWithin(namespace: Namespace, prefixes: readonly Namespace[], depth = Infinity): boolean {
  if (prefixes.length === 0) return true;
  return prefixes.some(
    (prefix) =>
      prefix.length <= namespace.length &&
      prefix.every((segment, index) => isSegment(segment, namespace[index]!)) &&
      namespace.length - prefix.length <= depth,
  );
}

/** A segment without a colon, `fetcher`, matches every `fetcher:…`; one with a colon matches only itself. */
const isSegment = (wanted: string, segment: string): boolean =>
  wanted === segment || (!wanted.includes(':') && segment.split(':', 1)[0] === wanted);
