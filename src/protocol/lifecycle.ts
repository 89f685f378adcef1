/** Which graphs and nodes of a run have begun and ended, as the readers of its thread are told. */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { namespaceKey, startsWith, type Draft, type Namespace } from './event.ts';
import { openSubgraphs, splitSegment, type EndStatus, type Subgraph } from './subgraphs.ts';

export type Status = 'started' | 'running' | EndStatus;

export interface Node {
  readonly namespace: Namespace;
  readonly graphName: string;
  readonly status: Status;
}

export interface Lifecycle {
  begin(): Draft;
  /** What has to be told before the first event of a namespace: its outermost unknown part comes first. */
  enter(namespace: Namespace): Draft[];
  /** A task of a graph begins, or is over and with it everything below it. */
  task(graph: Namespace, task: JsonObject): Draft[];
  /**
   * Where the events of a tool call stand: in the task of the graph that carries it out. Since langgraph 1.7 the
   * runtime names the graph only, before that it names the task.
   */
  placeOfCall(graph: Namespace, callId: string): Namespace;
  /** Some task of this node is over. */
  leaveNode(graph: Namespace, node: string): Draft[];
  /** The attempt was lost. */
  lose(): void;
  /** Everything that has not ended, the root last, which tells `more`. */
  end(status: EndStatus, more: JsonObject): Draft[];
  /** The root first, then the others in the order in which they were entered. */
  nodes(): readonly Node[];
}

export function openLifecycle(graphId: string): Lifecycle {
  let root: Node = { namespace: [], graphName: graphId, status: 'running' };
  const subgraphs = openSubgraphs();
  /** What agents call themselves, by namespace. */
  const names = new Map<string, string>();

  const tell = ({ namespace, graphName, status }: Node, more: JsonObject = {}): Draft => ({
    method: 'lifecycle',
    namespace,
    data: { event: status, graph_name: graphName, ...more },
    // A graph begins and ends once in a run.
    ...(status !== 'started' && { mark: `lc|${namespaceKey(namespace)}|${status}` }),
  });
  const tellEnd = (subgraph: Subgraph): Draft =>
    tell(subgraph, subgraph.error === undefined ? {} : { error: subgraph.error.message });

  function causeOf(namespace: Namespace): JsonObject {
    const [, taskId = ''] = splitSegment(namespace.at(-1)!);
    const callId = names.has(namespaceKey(namespace)) ? subgraphs.callOf(namespace) : undefined;
    return {
      namespace: [...namespace],
      ...(taskId !== '' && { trigger_call_id: taskId }),
      ...(callId !== undefined && { cause: { type: 'toolCall', tool_call_id: callId } }),
    };
  }

  return {
    begin: () => tell(root),
    enter(namespace) {
      const told: Draft[] = [];
      for (let length = 1; length <= namespace.length; length += 1) {
        const prefix = namespace.slice(0, length);
        const entered = subgraphs.enter(prefix, names.get(namespaceKey(prefix)));
        if (entered !== undefined) told.push(tell(entered, causeOf(prefix)));
      }
      return told;
    },
    task(graph, task) {
      const { metadata } = task;
      const name = isObject(metadata) ? metadata['lc_agent_name'] : undefined;
      const key = namespaceKey(graph);
      if (typeof name === 'string' && name !== '' && !names.has(key)) names.set(key, name);
      return subgraphs.task(graph, task).map(tellEnd);
    },
    placeOfCall(graph, callId) {
      if (subgraphs.callOf(graph) === callId) return graph;
      const task = subgraphs.taskOfCall(graph, callId);
      return task ?? (graph.length === 0 ? graph : [...graph, `tools:${callId}`]);
    },
    leaveNode(graph, node) {
      const child = subgraphs
        .all()
        .find(
          ({ namespace, status }) =>
            status === 'started' &&
            namespace.length === graph.length + 1 &&
            startsWith(namespace, graph) &&
            splitSegment(namespace.at(-1)!)[0] === node,
        );
      return child === undefined ? [] : subgraphs.leave(child.namespace, 'completed').map(tellEnd);
    },
    lose: subgraphs.lose,
    end(status, more) {
      root = { ...root, status };
      return [...subgraphs.leave([], status).map(tellEnd), tell(root, more)];
    },
    nodes: () => [root, ...subgraphs.all()],
  };
}
