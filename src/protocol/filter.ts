/** Matches a thread's events against a client's subscription. */
import type { Json } from '../kernel/json.ts';
import { CHANNEL_OF, type Draft, type Namespace } from './event.ts';

export interface Subscription {
  readonly channels: readonly string[];
  /** Namespace prefixes, of which one must match; an empty or absent list matches everything. */
  readonly namespaces?: readonly Namespace[] | undefined;
  /** The maximum number of segments that an event's namespace may have after the prefix. */
  readonly depth?: number | undefined;
  /** True for clients that look for messages and tool calls of nodes in the namespace of the graph. */
  readonly byGraph?: boolean | undefined;
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

/** Methods of events that a node of a graph causes; their namespace ends with the node's task. */
const NODE_METHODS: ReadonlySet<string> = new Set(['messages', 'tools']);

/**
 * The event in the form that the subscription gets; undefined if it does not match. Messages and tool calls of the nodes
 * directly below a graph are told in the graph's namespace to clients that look for them there (`byGraph`), and to
 * subscriptions of depth 0, which read one graph alone.
 */
export function select<T extends Draft>(
  { channels, namespaces = [], depth, byGraph = false }: Subscription,
  event: T,
): T | undefined {
  const { method, namespace } = event;
  if (!channels.some((channel) => isOf(channel, event))) return undefined;
  const isOfNode = NODE_METHODS.has(method) && namespace.length > 0;
  if (!(byGraph && isOfNode) && isWithin(namespace, namespaces, depth)) return event;
  if (!isOfNode || !(byGraph || depth === 0)) return undefined;
  const graph = namespace.slice(0, -1);
  return isWithin(graph, namespaces, depth) ? { ...event, namespace: graph } : undefined;
}

/** True for the Python client, which knows the namespaces of its library: from the agent that it names in requests. */
export const readsByGraph = (userAgent: string | undefined): boolean =>
  /python|langgraph-sdk-py/i.test(userAgent ?? '');

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
