/** Derives `lifecycle` events, one for each start and end of a run's graphs and nodes. */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { namespaceKey, startsWith, type Draft, type Namespace } from './event.ts';
import { openSubgraphs, splitSegment, type EndStatus, type Subgraph } from './subgraphs.ts';

type Status = 'started' | 'running' | EndStatus;

export interface Node {
  readonly namespace: Namespace;
  readonly graphName: string;
  readonly status: Status;
}

export interface Lifecycle {
  begin(): Draft;
  /** The start events that must precede the first event of a namespace, outermost graph first. */
  enter(namespace: Namespace): Draft[];
  /** Handles a chunk of the mode `tasks`: a task's start, or its result, which ends all graphs below the task. */
  task(graph: Namespace, task: JsonObject): Draft[];
  /**
   * The namespace for a tool call's events: that of the task that executes it. From langgraph 1.7 the runtime names
   * only the graph, before that the task.
   */
  placeOfCall(graph: Namespace, callId: string): Namespace;
  /** Ends the first open subgraph of this node. Used where the run's modes show no tasks. */
  leaveNode(graph: Namespace, node: string): Draft[];
  /** Marks the attempt as lost. */
  lose(): void;
  /** Ends all open graphs, the root last. `more` is added to the root's event. */
  end(status: EndStatus, more: JsonObject): Draft[];
  /** The root first, then subgraphs in the order of their start. */
  nodes(): readonly Node[];
}

export function openLifecycle(graphId: string): Lifecycle {
  let root: Node = { namespace: [], graphName: graphId, status: 'running' };
  const subgraphs = openSubgraphs();
  /** Agent names from task metadata (`lc_agent_name`), by namespace. */
  const names = new Map<string, string>();

  const toDraft = ({ namespace, graphName, status }: Node, more: JsonObject = {}): Draft => ({
    method: 'lifecycle',
    namespace,
    data: { event: status, graph_name: graphName, ...more },
    // A graph starts and ends once per run, so the mark is unique.
    ...(status !== 'started' && { mark: `lc|${namespaceKey(namespace)}|${status}` }),
  });
  const toEndDraft = (subgraph: Subgraph): Draft =>
    toDraft(subgraph, subgraph.error === undefined ? {} : { error: subgraph.error.message });

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
    begin: () => toDraft(root),
    enter(namespace) {
      const drafts: Draft[] = [];
      for (let length = 1; length <= namespace.length; length += 1) {
        const prefix = namespace.slice(0, length);
        const entered = subgraphs.enter(prefix, names.get(namespaceKey(prefix)));
        if (entered !== undefined) drafts.push(toDraft(entered, causeOf(prefix)));
      }
      return drafts;
    },
    task(graph, task) {
      const { metadata } = task;
      const name = isObject(metadata) ? metadata['lc_agent_name'] : undefined;
      const key = namespaceKey(graph);
      if (typeof name === 'string' && name !== '' && !names.has(key)) names.set(key, name);
      return subgraphs.task(graph, task).map(toEndDraft);
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
      return child === undefined ? [] : subgraphs.leave(child.namespace, 'completed').map(toEndDraft);
    },
    lose: subgraphs.lose,
    end(status, more) {
      root = { ...root, status };
      return [...subgraphs.leave([], status).map(toEndDraft), toDraft(root, more)];
    },
    nodes: () => [root, ...subgraphs.all()],
  };
}
