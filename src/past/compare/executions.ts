/**
 * Compares what a run left in the log with what its re-execution saved: step by step its writes and checkpoints, then its
 * frames and its end. Parallel tasks are compared as sets; ids are matched one to one.
 */
import { SENDS } from '../step-nodes.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { firstDifference, normalFormOf, openIdMap, type IdMap } from './values.ts';
import type { Divergence } from './difference.ts';
import { compareFrames } from './frames.ts';
import { compareWrites } from './writes.ts';
import { keyOf, parseStored, pathOf, type RunCheckpoint, type RunTrace, type RunWrite } from '../trace.ts';

export interface Comparison {
  readonly divergence: Divergence | undefined;
  readonly checkpoints: number;
  readonly writes: number;
  /** Undefined when frames were not compared. */
  readonly frames: number | undefined;
}

export interface CompareOptions {
  readonly recorded: RunTrace;
  readonly found: RunTrace;
  /** The re-execution ended early: what it did not reach is no difference. */
  readonly isPartial: boolean;
  /** The recorded run was stopped: what follows its last checkpoint is no difference. */
  readonly isStopped: boolean;
  /** Keys of checkpoints on which later runs replaced writes of the run. */
  readonly replaced: ReadonlySet<string>;
  /** False when other frames lead to the same states: those of attempts that broke off, of stubs, of a later start. */
  readonly withFrames: boolean;
}

export function compareTraces(options: CompareOptions): Comparison {
  const { recorded, found, isPartial, isStopped } = options;
  const ids = openIdMap();
  const [expected, actual] = [toSteps(recorded), toSteps(found)];
  const counts = { checkpoints: 0, writes: 0, frames: undefined as number | undefined };
  const end = (divergence?: Divergence): Comparison => ({ divergence, ...counts });

  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [expected[index], actual[index]];
    if (a === undefined && isStopped) break;
    if (b === undefined && isPartial) break;
    const isLast = index >= Math.min(expected.length, actual.length) - 1;
    const writes = compareWrites(a?.writes ?? [], b?.writes ?? [], ids, {
      mayLack: isLast && (isPartial || isStopped),
      sends: (a ?? b)!.sends,
      mayAdd: (isLast && isStopped) || a?.on.some((key) => options.replaced.has(key)) === true,
    });
    if (writes !== undefined) return end({ what: 'write', step: stepOf(a ?? b), ...writes });
    counts.writes += a?.writes.length ?? 0;
    if (a?.checkpoint === undefined || b?.checkpoint === undefined) {
      const lone = a?.checkpoint ?? b?.checkpoint;
      if (lone === undefined) continue;
      if (isPartial || isStopped) return end();
      return end({
        ...{ what: 'checkpoint', step: stepOf({ checkpoint: lone }), node: pathOf(lone.ns) },
        ...{ recorded: shown(a?.checkpoint), found: shown(b?.checkpoint) },
      });
    }
    const divergence = compareCheckpoints(a.checkpoint, b.checkpoint, ids);
    if (divergence !== undefined) return end(divergence);
    counts.checkpoints += 1;
  }
  if (isPartial || isStopped) return end();
  if (options.withFrames) {
    const frames = compareFrames(recorded.frames, found.frames);
    counts.frames = recorded.frames.length;
    if (frames !== undefined) return end(frames);
  }
  return end(compareEnds(recorded, found));
}

/** A checkpoint, with the writes that were saved before it. */
interface Step {
  readonly checkpoint: RunCheckpoint | undefined;
  readonly writes: readonly RunWrite[];
  /** Keys of the checkpoints that the writes are on. */
  readonly on: readonly string[];
  /** Nodes that the step before asked for, in order. */
  readonly sends: readonly string[];
}

interface PlacedStep extends Step {
  /** Node path of the graph. */
  readonly path: string;
}

/**
 * Groups checkpoints of root and subgraphs by graph: the n-th checkpoint of a graph's path belongs to the n-th of the
 * other side, whatever order parallel subgraphs had.
 */
function toSteps({ checkpoints, writes }: RunTrace): Step[] {
  const byCheckpoint = Map.groupBy(writes, keyOf);
  const own = new Set(checkpoints.map(keyOf));
  // Writes on checkpoints of earlier runs come first: they are those of the first step.
  const on = [...byCheckpoint.keys()].filter((key) => !own.has(key));
  const first = on.flatMap((key) => byCheckpoint.get(key) ?? []);
  const steps: PlacedStep[] = [{ checkpoint: undefined, writes: first, on, path: '', sends: [] }];
  const last = new Map<string, RunCheckpoint>();
  const place = (ns: string, checkpoint: RunCheckpoint | undefined): void => {
    const previous = last.get(ns);
    const key = previous && keyOf(previous);
    steps.push({
      ...{ checkpoint, path: pathOf(ns), on: key === undefined ? [] : [key], sends: sendsOf(previous) },
      writes: key === undefined ? [] : (byCheckpoint.get(key) ?? []),
    });
  };
  for (const checkpoint of checkpoints) {
    place(checkpoint.ns, checkpoint);
    last.set(checkpoint.ns, checkpoint);
  }
  // Writes on the last checkpoint of each graph have no checkpoint after them.
  for (const ns of last.keys()) place(ns, undefined);
  return sortedByGraph(steps);
}

function sendsOf(checkpoint: RunCheckpoint | undefined): string[] {
  const text = checkpoint?.channels.get(SENDS);
  const sends = text === undefined ? [] : parseStored(text);
  return Array.isArray(sends)
    ? sends.map((send) => (isObject(send) && isObject(send['v']) ? String(send['v']['node']) : ''))
    : [];
}

/**
 * In the order of the root graph's steps: between two of them the steps of subgraphs, by path. Parallel subgraphs of one
 * path are ordered by content, because their order is free.
 */
function sortedByGraph(steps: readonly PlacedStep[]): Step[] {
  const sorted: Step[] = [];
  let inner: PlacedStep[] = [];
  const flush = (): void => {
    const form = new Map(inner.map((step) => [step, formOfStep(step)]));
    inner.sort(
      (a, b) =>
        compareText(a.path, b.path) || stepOf(a) - stepOf(b) || compareText(form.get(a)!, form.get(b)!),
    );
    sorted.push(...inner);
    inner = [];
  };
  for (const step of steps) {
    if (step.path !== '') {
      inner.push(step);
      continue;
    }
    flush();
    sorted.push(step);
  }
  flush();
  return sorted;
}

const formOfStep = ({ checkpoint, writes }: Step): string =>
  JSON.stringify([
    checkpoint === undefined
      ? null
      : [...checkpoint.channels].map(([name, text]) => [name, normalFormOf(parseStored(text)).text]).sort(),
    writes.map((write) => normalFormOf(parseStored(write.data)).text).sort(),
  ]);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const stepOf = (step: Pick<Step, 'checkpoint'> | undefined): number => {
  const given = step?.checkpoint?.metadata['step'];
  return typeof given === 'number' ? given : Number.MAX_SAFE_INTEGER;
};

/** Members of a checkpoint's metadata that say where in the run it stands. */
const PLACE = ['source', 'step'] as const;

function compareCheckpoints(a: RunCheckpoint, b: RunCheckpoint, ids: IdMap): Divergence | undefined {
  const step = stepOf({ checkpoint: a });
  const node = pathOf(a.ns);
  const place = { what: 'checkpoint', step, ...(node !== '' && { node }) } as const;
  const [placeA, placeB] = [a, b].map(({ ns, metadata }) => [
    pathOf(ns),
    ...PLACE.map((key) => metadata[key] ?? null),
  ]);
  const differentPlace = firstDifference(placeA!, placeB!);
  if (differentPlace !== undefined) return { ...place, recorded: placeA, found: placeB };
  for (const channel of new Set([...a.changed, ...b.changed])) {
    const [recorded, found] = [a.channels.get(channel), b.channels.get(channel)];
    if (recorded === found) continue;
    if (recorded === undefined || found === undefined)
      return {
        ...{ ...place, channel },
        recorded: recorded === undefined ? undefined : parseStored(recorded),
        found: found === undefined ? undefined : parseStored(found),
      };
    const [valueA, valueB] = [parseStored(recorded), parseStored(found)];
    const difference = firstDifference(valueA, valueB);
    if (difference !== undefined) return { ...place, channel, ...difference };
    const conflict = ids.match(normalFormOf(valueA).ids, normalFormOf(valueB).ids);
    if (conflict !== undefined) return { ...place, channel, ...conflict };
  }
  return undefined;
}

function shown(checkpoint: RunCheckpoint | undefined): Json | undefined {
  if (checkpoint === undefined) return undefined;
  const { source = null, step = null } = checkpoint.metadata;
  return { source, step };
}

function compareEnds(recorded: RunTrace, found: RunTrace): Divergence | undefined {
  const [a, b] = [recorded.outcome, found.outcome].map(toEnd);
  const difference = firstDifference(a ?? null, b ?? null);
  return difference && { what: 'end', ...difference };
}

/** Kind and error of an end, and what waits; stacks differ with every change of the source. */
function toEnd(outcome: RunTrace['outcome']): Json {
  if (outcome === undefined) return null;
  if (outcome.kind === 'error') return { kind: outcome.kind, error: outcome.error, message: outcome.message };
  return outcome.kind === 'success'
    ? {
        kind: outcome.kind,
        next: [...outcome.next].sort(),
        interrupts: Object.values(outcome.interrupts).flat() as Json[],
      }
    : { kind: outcome.kind };
}
