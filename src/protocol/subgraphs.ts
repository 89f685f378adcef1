/**
 * Which graphs within a run have begun and ended. Pure: the one source for the events of the v2 protocol and for frames of
 * the stream mode `lifecycle`. A graph begins once and ends once in a run, however many attempts the run takes.
 */
import { isObject } from '../kernel/json.ts';
import { namespaceKey, startsWith, type Namespace } from './event.ts';

export type EndStatus = 'completed' | 'failed' | 'interrupted';

export interface Failure {
  readonly error: string;
  readonly message: string;
}

export interface Subgraph {
  readonly namespace: Namespace;
  readonly graphName: string;
  readonly status: 'started' | EndStatus;
  /** Of one that failed. */
  readonly error?: Failure | undefined;
}

export interface Subgraphs {
  /** The graph, unless it has begun before. */
  enter(namespace: Namespace, graphName?: string): Subgraph | undefined;
  /**
   * A chunk of the mode `tasks`: a task of `graph` that begins, or its result. Returns the graphs that end with it,
   * innermost first.
   */
  task(graph: Namespace, data: unknown): readonly Subgraph[];
  /** Those of this namespace and below it that have not ended, innermost first, as they are once they have. */
  ends(namespace: Namespace, status: EndStatus, error?: Failure): readonly Subgraph[];
  /** Ends them. */
  leave(namespace: Namespace, status: EndStatus, error?: Failure): readonly Subgraph[];
  /** The attempt was lost: what the next one does not enter again has been interrupted. */
  lose(): void;
  /** The tool call that the task of this namespace carries out. */
  callOf(namespace: Namespace): string | undefined;
  /** The namespace of the task of `graph` that carries out the call. */
  taskOfCall(graph: Namespace, callId: string): Namespace | undefined;
  /** In the order in which they have begun. */
  all(): readonly Subgraph[];
}

export function openSubgraphs(): Subgraphs {
  const known = new Map<string, Subgraph>();
  const open = new Set<string>();
  const lost = new Set<string>();
  /** Tool calls by the task that carries them out, and the other way round. */
  const calls = new Map<string, string>();
  const callTasks = new Map<string, Namespace>();

  function ends(namespace: Namespace, status: EndStatus, error?: Failure): Subgraph[] {
    return [...open]
      .map((key) => known.get(key)!)
      .filter((subgraph) => startsWith(subgraph.namespace, namespace))
      .sort((a, b) => b.namespace.length - a.namespace.length)
      .map((subgraph) => ({
        ...subgraph,
        status: status === 'completed' && lost.has(namespaceKey(subgraph.namespace)) ? 'interrupted' : status,
        ...(status === 'failed' && { error }),
      }));
  }

  function leave(namespace: Namespace, status: EndStatus, error?: Failure): Subgraph[] {
    const ended = ends(namespace, status, error);
    for (const subgraph of ended) {
      const key = namespaceKey(subgraph.namespace);
      known.set(key, subgraph);
      open.delete(key);
    }
    return ended;
  }

  return {
    enter(namespace, graphName = nodeOf(namespace)) {
      const key = namespaceKey(namespace);
      lost.delete(key);
      if (known.has(key)) return undefined;
      const subgraph: Subgraph = { namespace, graphName, status: 'started' };
      known.set(key, subgraph);
      open.add(key);
      return subgraph;
    },
    task(graph, data) {
      const { id, name, input, interrupts, error, result } = isObject(data) ? data : {};
      if (!isObject(data) || typeof id !== 'string' || typeof name !== 'string') return [];
      const task = [...graph, `${name}:${id}`];
      if (!('result' in data)) {
        const callId = toolCallOf(input);
        if (callId === undefined) return [];
        calls.set(id, callId);
        callTasks.set(callKey(graph, callId), task);
        return [];
      }
      // A graph that asks goes on in another run, and ends in this one with the run.
      if (Array.isArray(interrupts) && interrupts.length > 0) return [];
      // Before langgraph 1.7 the result of a task that failed is empty and has no error: the run's end tells.
      if (!('error' in data) && isEmpty(result)) return [];
      const failure = toFailure(error);
      return failure === undefined ? leave(task, 'completed') : leave(task, 'failed', failure);
    },
    ends,
    leave,
    lose() {
      for (const key of open) lost.add(key);
    },
    callOf: (namespace) => calls.get(splitSegment(namespace.at(-1) ?? '')[1] ?? ''),
    taskOfCall: (graph, callId) => callTasks.get(callKey(graph, callId)),
    all: () => [...known.values()],
  };
}

/** `researcher:1f1e…` is a call of the node `researcher`, whose task has the id after the colon. */
export function splitSegment(segment: string): [string, string?] {
  const colon = segment.indexOf(':');
  return colon < 0 ? [segment] : [segment.slice(0, colon), segment.slice(colon + 1)];
}

const nodeOf = (namespace: Namespace): string => splitSegment(namespace.at(-1) ?? '')[0];

const callKey = (graph: Namespace, callId: string): string => `${namespaceKey(graph)} ${callId}`;

const isEmpty = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && Object.keys(result).length === 0;

/** In the form of the graph's runtime, or in the form of frames. */
function toFailure(error: unknown): Failure | undefined {
  if (error === undefined || error === null) return undefined;
  if (!isObject(error)) return { error: 'Error', message: String(error) };
  const { error: given, name = 'Error', message = '' } = error;
  return { error: String(given ?? name), message: String(message) };
}

/** The tool call that a task carries out, in any of the forms in which tool nodes get it. */
function toolCallOf(input: unknown): string | undefined {
  const call: unknown = isObject(input)
    ? (input['lg_tool_call'] ?? input['tool_call'])
    : Array.isArray(input)
      ? input.find((each) => isObject(each) && typeof each['id'] === 'string')
      : undefined;
  const id = isObject(call) ? call['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
