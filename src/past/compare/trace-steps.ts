/** Puts the steps of an execution into an order that does not depend on which of its parallel tasks was faster. */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { nodeOfPath, nodeOfSend, SENDS } from '../step-nodes.ts';
import { keyOf, parseStored, type RunCheckpoint, type RunTrace, type RunWrite } from '../trace.ts';
import { normalFormOf, type Side } from './values.ts';

/** A checkpoint, with the writes that were saved before it. */
export interface TraceStep {
  /** Node path of the graph. */
  readonly path: string;
  readonly checkpoint: RunCheckpoint | undefined;
  /** The graph's checkpoint before. */
  readonly previous?: RunCheckpoint | undefined;
  readonly writes: readonly RunWrite[];
  /** Keys of the checkpoints that the writes are on. */
  readonly on: readonly string[];
  /** Nodes that the step before called, in order. */
  readonly called: readonly string[];
}

/**
 * Groups checkpoints of root and subgraphs by graph: the n-th checkpoint of a graph's path belongs to the n-th of the
 * other side, whatever order parallel subgraphs had.
 */
export function toTraceSteps({ checkpoints, writes }: RunTrace, side: Side): TraceStep[] {
  const byCheckpoint = Map.groupBy(writes, keyOf);
  const own = new Set(checkpoints.map(keyOf));
  // Writes on checkpoints of earlier runs come first: they are those of the first step.
  const on = [...byCheckpoint.keys()].filter((key) => !own.has(key));
  const first = on.flatMap((key) => byCheckpoint.get(key) ?? []);
  const steps: TraceStep[] = [{ path: '', checkpoint: undefined, writes: first, on, called: [] }];
  const last = new Map<string, RunCheckpoint>();
  const place = (ns: string, checkpoint: RunCheckpoint | undefined): void => {
    const previous = last.get(ns);
    const key = previous && keyOf(previous);
    steps.push({
      ...{ path: nodePathOf(ns), checkpoint, previous, called: calledBy(previous) },
      ...{ on: key === undefined ? [] : [key], writes: byCheckpoint.get(key ?? '') ?? [] },
    });
  };
  for (const checkpoint of checkpoints) {
    place(checkpoint.ns, checkpoint);
    last.set(checkpoint.ns, checkpoint);
  }
  // Writes on the last checkpoint of each graph have no checkpoint after them.
  for (const ns of last.keys()) place(ns, undefined);
  return sortedByGraph(steps, side);
}

/** Nodes of the tasks that wrote before the step's checkpoint. */
export const nodesOfStep = (
  { writes, called }: TraceStep,
  nodeOf: (taskId: string) => string | undefined,
): string[] => [
  ...new Set(
    writes.flatMap(({ taskPath = '', taskId }) => nodeOfPath(taskPath, called) ?? nodeOf(taskId) ?? []),
  ),
];

function calledBy(checkpoint: RunCheckpoint | undefined): string[] {
  const sends = parseStored(checkpoint?.channels.get(SENDS) ?? '[]');
  return Array.isArray(sends) ? sends.map(nodeOfSend) : [];
}

/**
 * Sorts into the order of the root graph's steps: between two of them the steps of subgraphs, by path. Parallel subgraphs
 * of one path are ordered by content, because their order is free.
 */
function sortedByGraph(steps: readonly TraceStep[], side: Side): TraceStep[] {
  const sorted: TraceStep[] = [];
  let inner: TraceStep[] = [];
  const flush = (): void => {
    const form = new Map(inner.map((step) => [step, formOfStep(step, side)]));
    inner.sort(
      (a, b) =>
        compareText(a.path, b.path) || stepOf(a) - stepOf(b) || compareText(form.get(a)!, form.get(b)!),
    );
    sorted.push(...inner);
    inner = [];
  };
  for (const step of steps) {
    if (step.path === '') {
      flush();
      sorted.push(step);
    } else inner.push(step);
  }
  flush();
  return sorted;
}

function formOfStep({ checkpoint, writes }: TraceStep, side: Side): string {
  const formOf = (text: string): string => normalFormOf(parseStored(text), side).text;
  return JSON.stringify([
    checkpoint && [...checkpoint.channels].map(([name, text]) => [name, formOf(text)]).sort(),
    writes.map(({ data }) => formOf(data)).sort(),
  ]);
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A step that was not finished has no checkpoint. */
export function stepOf({ checkpoint, previous }: Pick<TraceStep, 'checkpoint' | 'previous'>): number {
  const stepIn = (each: RunCheckpoint | undefined): unknown => each?.metadata['step'];
  const [given, before] = [stepIn(checkpoint), stepIn(previous)];
  if (typeof given === 'number') return given;
  return typeof before === 'number' ? before + 1 : Number.MAX_SAFE_INTEGER;
}
