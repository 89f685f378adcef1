/** What the readers of a thread are told, in the form in which it goes over the wire but for its place. */
import type { Json, JsonObject } from '../kernel/json.ts';

export type Method =
  | 'values'
  | 'updates'
  | 'messages'
  | 'tools'
  | 'lifecycle'
  | 'input.requested'
  | 'input.answered'
  | 'checkpoints'
  | 'tasks'
  | 'custom';

/** The path of graph, node and task names that an event comes from; empty for the thread's own graph. */
export type Namespace = readonly string[];

export interface Draft {
  readonly method: Method;
  readonly namespace: Namespace;
  readonly node?: string;
  /** A function where it costs something: it is called only for readers who asked for such events. */
  readonly data: Json | (() => Json);
  /** Of events of the method `custom`: the channel they are sent to. */
  readonly name?: string;
  /** Unique in the run, of events whose id names the run and what happened instead of their place. */
  readonly mark?: string;
}

export interface ThreadEvent extends Draft {
  readonly seq: number;
  readonly eventId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The JSON text of an event: the same for every reader. */
export function toEventText({ method, seq, eventId, namespace, node, at, data }: ThreadEvent): string {
  const params: JsonObject = {
    namespace: [...namespace],
    timestamp: at,
    ...(node !== undefined && { node }),
    data: typeof data === 'function' ? data() : data,
  };
  return JSON.stringify({ type: 'event', event_id: eventId, seq, method, params });
}

/** Clients read the run from ids of this form. */
export const toNamedId = (runId: string, mark: string): string => `synth:${runId}:${mark}`;

/** The namespace of a frame: `values|child:1|grandchild:2`. */
export const parseFrameName = (name: string): { mode: string; namespace: Namespace } => {
  const [mode = '', ...namespace] = name.split('|');
  return { mode, namespace };
};

export const namespaceKey = (namespace: Namespace): string => namespace.join('|');

export const startsWith = (namespace: Namespace, prefix: Namespace): boolean =>
  prefix.length <= namespace.length && prefix.every((segment, index) => namespace[index] === segment);
