/** Which graphs and nodes of a run have begun and ended, as far as its frames tell. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { namespaceKey, startsWith, type Draft, type Namespace } from './event.ts';

export type Status = 'started' | 'running' | 'completed' | 'failed' | 'interrupted';

export interface Node {
  readonly namespace: Namespace;
  readonly graphName: string;
  status: Status;
}

export interface Lifecycle {
  begin(): Draft;
  /** What has to be told before the first event of a namespace: its outermost unknown part comes first. */
  enter(namespace: Namespace): Draft[];
  /** A task of a graph was created: what it is called, and for which tool call. */
  noteTask(graph: Namespace, task: JsonObject): void;
  /**
   * Where the events of a tool call stand: in the task of the graph that carries it out. Since langgraph 1.7 the
   * runtime names the graph only, before that it names the task.
   */
  placeOfCall(graph: Namespace, callId: string): Namespace;
  /** A task of a graph is over, and so is everything below it. */
  leaveTask(graph: Namespace, task: { readonly name: string; readonly id: string }): Draft[];
  /** Some task of this node is over. */
  leaveNode(graph: Namespace, node: string): Draft[];
  /** Everything that has not ended, the root last. */
  end(status: Status, error?: string): Draft[];
  /** The root first, then the others in the order in which they were entered. */
  nodes(): readonly Node[];
}

export function openLifecycle(graphId: string): Lifecycle {
  const root: Node = { namespace: [], graphName: graphId, status: 'running' };
  const nodes = new Map<string, Node>([['', root]]);
  /** What agents call themselves, by namespace; and the tool calls that tasks were made for, by task id. */
  const names = new Map<string, string>();
  const calls = new Map<string, string>();
  const callTasks = new Map<string, Namespace>();

  function tell(node: Node, status: Status, more: JsonObject = {}): Draft {
    node.status = status;
    return {
      method: 'lifecycle',
      namespace: node.namespace,
      data: { event: status, graph_name: node.graphName, ...more },
      // A graph begins and ends once in a run.
      ...(status !== 'started' && { mark: `lc|${namespaceKey(node.namespace)}|${status}` }),
    };
  }

  /** Innermost first. */
  const leave = (namespace: Namespace, status: Status): Draft[] =>
    [...nodes.values()]
      .filter((node) => node !== root && node.status === 'started' && startsWith(node.namespace, namespace))
      .sort((a, b) => b.namespace.length - a.namespace.length)
      .map((node) => tell(node, status));

  function causeOf(namespace: Namespace): JsonObject {
    const [, taskId = ''] = splitSegment(namespace.at(-1)!);
    const callId = names.has(namespaceKey(namespace)) ? calls.get(taskId) : undefined;
    return {
      namespace: [...namespace],
      ...(taskId !== '' && { trigger_call_id: taskId }),
      ...(callId !== undefined && { cause: { type: 'toolCall', tool_call_id: callId } }),
    };
  }

  return {
    begin: () => tell(root, 'running'),
    enter(namespace) {
      const told: Draft[] = [];
      for (let length = 1; length <= namespace.length; length += 1) {
        const prefix = namespace.slice(0, length);
        const key = namespaceKey(prefix);
        if (nodes.has(key)) continue;
        const node: Node = {
          namespace: prefix,
          graphName: names.get(key) ?? splitSegment(prefix.at(-1)!)[0],
          status: 'started',
        };
        nodes.set(key, node);
        told.push(tell(node, 'started', causeOf(prefix)));
      }
      return told;
    },
    noteTask(graph, { id, name: node, input, metadata }) {
      const name = isObject(metadata) ? metadata['lc_agent_name'] : undefined;
      const key = namespaceKey(graph);
      if (typeof name === 'string' && name !== '' && !names.has(key)) names.set(key, name);
      const callId = toolCallOf(input);
      if (typeof id !== 'string' || callId === undefined) return;
      calls.set(id, callId);
      callTasks.set(callKey(graph, callId), [...graph, `${String(node)}:${id}`]);
    },
    placeOfCall(graph, callId) {
      const [, taskId = ''] = splitSegment(graph.at(-1) ?? '');
      if (calls.get(taskId) === callId) return graph;
      const task = callTasks.get(callKey(graph, callId));
      return task ?? (graph.length === 0 ? graph : [...graph, `tools:${callId}`]);
    },
    leaveTask: (graph, { name, id }) => leave([...graph, `${name}:${id}`], 'completed'),
    leaveNode(graph, node) {
      const child = [...nodes.values()].find(
        ({ namespace, status }) =>
          status === 'started' &&
          namespace.length === graph.length + 1 &&
          startsWith(namespace, graph) &&
          splitSegment(namespace.at(-1)!)[0] === node,
      );
      return child === undefined ? [] : leave(child.namespace, 'completed');
    },
    end: (status, error) => [...leave([], status), tell(root, status, error === undefined ? {} : { error })],
    nodes: () => [...nodes.values()],
  };
}

/** `researcher:1f1e…` is a call of the node `researcher`, whose task has the id after the colon. */
function splitSegment(segment: string): [string, string?] {
  const colon = segment.indexOf(':');
  return colon < 0 ? [segment] : [segment.slice(0, colon), segment.slice(colon + 1)];
}

const callKey = (graph: Namespace, callId: string): string => `${namespaceKey(graph)} ${callId}`;

/** The tool call that a task carries out, in any of the forms in which tool nodes get it. */
function toolCallOf(input: Json | undefined): string | undefined {
  const call = isObject(input)
    ? (input['lg_tool_call'] ?? input['tool_call'])
    : Array.isArray(input)
      ? input.find((each) => isObject(each) && typeof each['id'] === 'string')
      : undefined;
  const id = isObject(call) ? call['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
