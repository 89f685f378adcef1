/** Frames of the stream mode `lifecycle`: one for a subgraph's start and one for its end. */
import { namespaceKey, parseFrameName, type Namespace } from './event.ts';
import { isNodeNamespace, type StreamMode } from './stream-modes.ts';
import { openSubgraphs, type EndStatus, type Failure, type Subgraph } from './subgraphs.ts';

export const LIFECYCLE = 'lifecycle' satisfies StreamMode;

interface FrameText {
  readonly event: string;
  readonly data: string;
}

/** `callId`: the tool call that started the subgraph. */
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

/** Derives one attempt's `lifecycle` frames from the chunks that the runtime streams. */
export interface SubgraphFrames {
  /** The frames to emit before a chunk's own frame. */
  before(namespace: Namespace, mode: string): readonly FrameText[];
  /** The frames to emit after a chunk's own frame. */
  after(namespace: Namespace, mode: string, payload: unknown): readonly FrameText[];
}

export function openSubgraphFrames(): SubgraphFrames {
  const subgraphs = openSubgraphs();
  return {
    before(namespace, mode) {
      if (namespace.length === 0 || isNodeNamespace(mode)) return [];
      const entered = subgraphs.enter(namespace);
      return entered === undefined ? [] : [toFrame(entered, subgraphs.callOf(namespace))];
    },
    after: (namespace, mode, payload) =>
      mode === 'tasks' ? subgraphs.task(namespace, payload).map((ended) => toFrame(ended)) : [],
  };
}

/** Removes duplicate `lifecycle` frames across all attempts at a run. */
export interface SubgraphLedger {
  /** The frames to store: none for a repeated start or end; an end also ends the open graphs below it. */
  admit(frame: FrameText): readonly FrameText[];
  /** The end frames of all graphs still open when the run ends. */
  ends(status: EndStatus, error?: Failure): readonly FrameText[];
}

/** `earlier`: the `lifecycle` frames stored by earlier attempts. */
export function openSubgraphLedger(earlier: readonly FrameText[] = []): SubgraphLedger {
  const subgraphs = openSubgraphs();

  function admit(frame: FrameText): readonly FrameText[] {
    const { name, namespace } = parseFrameName(frame.event);
    if (name !== LIFECYCLE) return [frame];
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

/** True for a `lifecycle` frame of a subgraph that a tool call started. */
export const isBegunByTool = ({ event, data }: FrameText): boolean =>
  event.startsWith(`${LIFECYCLE}|`) && data.includes('"tool_call_id":');
