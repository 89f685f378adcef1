/** Frames of a run's stream mode `lifecycle`: one when a graph within begins, one when it ends. */
import { namespaceKey, parseFrameName, type Namespace } from './event.ts';
import { openSubgraphs, type EndStatus, type Failure, type Subgraph } from './subgraphs.ts';

export const LIFECYCLE = 'lifecycle';

interface FrameText {
  readonly event: string;
  readonly data: string;
}

/** `callId`: of the tool call that began it. */
function toFrame({ namespace, status, error }: Subgraph, callId?: string): FrameText {
  return {
    event: [LIFECYCLE, ...namespace].join('|'),
    data: JSON.stringify({
      event: status,
      namespace,
      ...(callId !== undefined && { tool_call_id: callId }),
      ...(error && { error }),
    }),
  };
}

/** What one attempt tells of its graphs, made of what the runtime streams. */
export interface SubgraphFrames {
  /** Comes before the frame of a chunk. */
  before(namespace: Namespace, mode: string): readonly FrameText[];
  /** Comes after it. */
  after(namespace: Namespace, mode: string, payload: unknown): readonly FrameText[];
}

/** Before langgraph 1.7 their namespaces are those of nodes, which are no graphs. */
const OF_NODES: ReadonlySet<string> = new Set(['messages', 'tools']);

export function openSubgraphFrames(): SubgraphFrames {
  const subgraphs = openSubgraphs();
  return {
    before(namespace, mode) {
      if (namespace.length === 0 || OF_NODES.has(mode)) return [];
      const entered = subgraphs.enter(namespace);
      return entered === undefined ? [] : [toFrame(entered, subgraphs.callOf(namespace))];
    },
    after: (namespace, mode, payload) =>
      mode === 'tasks' ? subgraphs.task(namespace, payload).map((ended) => toFrame(ended)) : [],
  };
}

/** What all attempts at a run have told of its graphs. */
export interface SubgraphLedger {
  /** The frame, unless it is of the mode `lifecycle` and was told before; with the ends of what it leaves behind. */
  admit(frame: FrameText): readonly FrameText[];
  /** The ends of the graphs that have not ended when the run does. */
  ends(status: EndStatus, error?: Failure): readonly FrameText[];
}

/** `earlier`: the frames of that mode that earlier attempts have left. */
export function openSubgraphLedger(earlier: readonly FrameText[] = []): SubgraphLedger {
  const subgraphs = openSubgraphs();

  function admit(frame: FrameText): readonly FrameText[] {
    const { mode, namespace } = parseFrameName(frame.event);
    if (mode !== LIFECYCLE) return [frame];
    const { event, error } = JSON.parse(frame.data) as { event: Subgraph['status']; error?: Failure };
    if (event === 'started') return subgraphs.enter(namespace) === undefined ? [] : [frame];
    const key = namespaceKey(namespace);
    return subgraphs
      .leave(namespace, event, error)
      .map((ended) => (namespaceKey(ended.namespace) === key ? frame : toFrame(ended)));
  }

  earlier.forEach(admit);
  subgraphs.lose();
  return { admit, ends: (status, error) => subgraphs.ends([], status, error).map((ended) => toFrame(ended)) };
}

/** The namespaces of graphs that a tool call began, of frames of the mode. */
export const isBegunByTool = ({ event, data }: FrameText): boolean =>
  event.startsWith(`${LIFECYCLE}|`) && data.includes('"tool_call_id":');
