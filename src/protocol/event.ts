/** Protocol events of a thread: drafts without a position, positioned events, and their JSON text. */
import type { Json, JsonObject } from '../kernel/json.ts';

/** The methods of events, each with the channel that clients subscribe to. */
export const CHANNEL_OF = {
  values: 'values',
  updates: 'updates',
  messages: 'messages',
  tools: 'tools',
  lifecycle: 'lifecycle',
  'input.requested': 'input',
  'input.answered': 'input',
  checkpoints: 'checkpoints',
  tasks: 'tasks',
  custom: 'custom',
} as const;
type Method = keyof typeof CHANNEL_OF;

/** The path of graph, node and task names that an event comes from; empty for the thread's own graph. */
export type Namespace = readonly string[];

export interface Draft {
  readonly method: Method;
  readonly namespace: Namespace;
  readonly node?: string;
  /** A function where building the data is expensive: it is called only for readers that subscribed to the event. */
  readonly data: Json | (() => Json);
  /** The channel of a `custom` event. */
  readonly name?: string;
  /** A key, unique within the run. Events with a mark get the id `synth:<run>:<mark>` instead of one by position. */
  readonly mark?: string;
}

export interface ThreadEvent extends Draft {
  readonly seq: number;
  readonly eventId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The JSON text of an event, identical for every reader. */
export function toEventText({ method, seq, eventId, namespace, node, at, data }: ThreadEvent): string {
  const params: JsonObject = {
    namespace: [...namespace],
    timestamp: at,
    ...(node !== undefined && { node }),
    data: typeof data === 'function' ? data() : data,
  };
  return JSON.stringify({ type: 'event', event_id: eventId, seq, method, params });
}

/** Builds the id of a marked event; clients parse the run id from it. */
export const toNamedId = (runId: string, mark: string): string => `synth:${runId}:${mark}`;

/** Splits a frame's event name such as `values|child:1|grandchild:2` into name and namespace. */
export const parseFrameName = (event: string): { name: string; namespace: Namespace } => {
  const [name = '', ...namespace] = event.split('|');
  return { name, namespace };
};

export const namespaceKey = (namespace: Namespace): string => namespace.join('|');

export const startsWith = (namespace: Namespace, prefix: Namespace): boolean =>
  prefix.length <= namespace.length && prefix.every((segment, index) => namespace[index] === segment);
