/**
 * Tracks which subgraphs of a run are open. It is the only source of protocol `lifecycle` events and of `lifecycle`
 * frames. A subgraph starts and ends once per run, however many attempts the run takes.
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
  /** Set if the status is `failed`. */
  readonly error?: Failure | undefined;
}

export interface Subgraphs {
  /** Opens a subgraph; undefined if it was opened before. */
  enter(namespace: Namespace, graphName?: string): Subgraph | undefined;
  /**
   * Handles a chunk of the mode `tasks`: the start of a task of `graph`, or its result. Returns the subgraphs that the
   * result ends, innermost first.
   */
  task(graph: Namespace, data: unknown): readonly Subgraph[];
  /** The open subgraphs in and below the namespace, innermost first, with their end status. Changes nothing. */
  ends(namespace: Namespace, status: EndStatus, error?: Failure): readonly Subgraph[];
  /** Ends the subgraphs that `ends` returns. */
  leave(namespace: Namespace, status: EndStatus, error?: Failure): readonly Subgraph[];
  /** Marks the attempt as lost: open subgraphs that the next attempt does not enter end as interrupted. */
  lose(): void;
  /** The id of the tool call that this namespace's task executes. */
  callOf(namespace: Namespace): string | undefined;
  /** The namespace of the task of `graph` that executes the tool call. */
  taskOfCall(graph: Namespace, callId: string): Namespace | undefined;
  /** All subgraphs, in the order of their start. */
  all(): readonly Subgraph[];
}

export function openSubgraphs(): Subgraphs {
  const known = new Map<string, Subgraph>();
  const open = new Set<string>();
  const lost = new Set<string>();
  /** Tool call ids by task id, and task namespaces by graph and tool call id. */
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
      // An interrupted graph continues in another run; in this run it ends with the run.
      if (Array.isArray(interrupts) && interrupts.length > 0) return [];
      // Before langgraph 1.7 a failed task has an empty result and no error; its graph ends with the run.
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

/** Splits `researcher:1f1e…` into the node name and the task id. */
export function splitSegment(segment: string): [string, string?] {
  const colon = segment.indexOf(':');
  return colon < 0 ? [segment] : [segment.slice(0, colon), segment.slice(colon + 1)];
}

const nodeOf = (namespace: Namespace): string => splitSegment(namespace.at(-1) ?? '')[0];

const callKey = (graph: Namespace, callId: string): string => `${namespaceKey(graph)} ${callId}`;

const isEmpty = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && Object.keys(result).length === 0;

/** Accepts the runtime's error form `{name, message}` and the frame form `{error, message}`. */
function toFailure(error: unknown): Failure | undefined {
  if (error === undefined || error === null) return undefined;
  if (!isObject(error)) return { error: 'Error', message: String(error) };
  const { error: given, name = 'Error', message = '' } = error;
  return { error: String(given ?? name), message: String(message) };
}

/** The id of the tool call in a task's input, in any of the input forms of tool nodes. */
function toolCallOf(input: unknown): string | undefined {
  const call: unknown = isObject(input)
    ? (input['lg_tool_call'] ?? input['tool_call'])
    : Array.isArray(input)
      ? input.find((each) => isObject(each) && typeof each['id'] === 'string')
      : undefined;
  const id = isObject(call) ? call['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
