/** Which events of a thread a subscription asked for. */
import type { Json } from '../kernel/json.ts';
import type { Draft, Namespace } from './event.ts';

export interface Subscription {
  readonly channels: readonly string[];
  /** Prefixes, of which one has to match; none is everything. */
  readonly namespaces?: readonly Namespace[] | undefined;
  /** How far below its prefix an event may lie. */
  readonly depth?: number | undefined;
}

const CHANNELS: ReadonlySet<string> = new Set([
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
]);

export const isChannel = (channel: string): boolean =>
  CHANNELS.has(channel) || (channel.startsWith('custom:') && channel.length > 'custom:'.length);

const ALLOWED = `Allowed: ${[...CHANNELS, 'custom:<name>'].join(', ')}`;

/** Says why `channels` cannot be subscribed to; undefined when they can. */
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
  if (channel === 'input') return method === 'input.requested' || method === 'input.answered';
  if (channel === method) return true;
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

/** `fetcher` names every `fetcher:…`; a segment with a colon names only itself. */
const isSegment = (wanted: string, segment: string): boolean =>
  wanted === segment || (!wanted.includes(':') && segment.split(':', 1)[0] === wanted);
