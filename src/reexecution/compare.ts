/**
 * Compares what a run left in the log with what its re-execution saved: step by step its writes and checkpoints, then its
 * frames and its end. Parallel tasks are compared as sets; ids are matched one to one.
 */
import type { Json } from '../kernel/json.ts';
import { firstDifference, normalFormOf, openIdMap, type IdMap, type NormalForm } from './normal-form.ts';
import type { Divergence } from './divergence.ts';
import { compareFrames } from './frames.ts';
import { parseStored, pathOf, type RunCheckpoint, type RunTrace, type RunWrite } from './run-data.ts';

export interface Comparison {
  readonly divergence: Divergence | undefined;
  readonly checkpoints: number;
  readonly writes: number;
  readonly frames: number;
}

export interface CompareOptions {
  readonly recorded: RunTrace;
  readonly found: RunTrace;
  /** The re-execution ended early: what it did not reach is no difference. */
  readonly isPartial: boolean;
  /** The recorded run was stopped: what follows its last checkpoint is no difference. */
  readonly isStopped: boolean;
  /** Later runs replaced some writes of the run on its last checkpoint. */
  readonly isContinued: boolean;
  /** Attempts of the recorded run: frames of an attempt that broke off are repeated. */
  readonly attempts: number;
  /** False when the re-execution took another way to the same states. */
  readonly withFrames: boolean;
}

export function compareTraces(options: CompareOptions): Comparison {
  const { recorded, found, isPartial, isStopped } = options;
  const ids = openIdMap();
  const [expected, actual] = [toSteps(recorded), toSteps(found)];
  const counts = { checkpoints: 0, writes: 0, frames: 0 };
  const end = (divergence?: Divergence): Comparison => ({ divergence, ...counts });

  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [expected[index], actual[index]];
    if (a === undefined && isStopped) break;
    if (b === undefined && isPartial) break;
    const isLast = index >= Math.min(expected.length, actual.length) - 1;
    const writes = compareSets(a?.writes ?? [], b?.writes ?? [], ids, {
      mayLack: isLast && (isPartial || isStopped),
      mayAdd: isLast && (isStopped || options.isContinued),
    });
    if (writes !== undefined) return end({ what: 'write', step: stepOf(a ?? b), ...writes });
    counts.writes += a?.writes.length ?? 0;
    if (a?.checkpoint === undefined || b?.checkpoint === undefined) {
      const missing = (isLast && isPartial) || a?.checkpoint === b?.checkpoint;
      if (missing || (a?.checkpoint === undefined && isStopped)) continue;
      return end({
        ...{ what: 'checkpoint', step: stepOf(a ?? b), node: pathOf((a ?? b)!.checkpoint!.ns) },
        ...{ recorded: shown(a?.checkpoint), found: shown(b?.checkpoint) },
      });
    }
    const divergence = compareCheckpoints(a.checkpoint, b.checkpoint, ids);
    if (divergence !== undefined) return end(divergence);
    counts.checkpoints += 1;
  }
  if (isPartial || isStopped) return end();
  if (options.withFrames) {
    const frames = compareFrames(recorded.frames, found.frames, options.attempts);
    counts.frames = recorded.frames.length;
    if (frames !== undefined) return end(frames);
  }
  return end(compareEnds(recorded, found));
}

/** A checkpoint, with the writes that were saved before it. */
interface Step {
  readonly checkpoint: RunCheckpoint | undefined;
  readonly writes: readonly RunWrite[];
}

/**
 * Groups checkpoints of root and subgraphs by graph: the n-th checkpoint of a graph's path belongs to the n-th of the
 * other side, whatever order parallel subgraphs had.
 */
function toSteps({ checkpoints, writes }: RunTrace): Step[] {
  const ofCheckpoint = new Map<string, RunWrite[]>();
  for (const write of writes) {
    const key = `${write.ns} ${write.checkpointId}`;
    ofCheckpoint.set(key, [...(ofCheckpoint.get(key) ?? []), write]);
  }
  const isOwn = new Set(checkpoints.map(({ ns, checkpointId }) => `${ns} ${checkpointId}`));
  const steps: (Step & { readonly path: string; readonly order: number })[] = [];
  const counts = new Map<string, number>();
  // Writes on checkpoints of earlier runs come first: they are those of the first step.
  const first = writes.filter(({ ns, checkpointId }) => !isOwn.has(`${ns} ${checkpointId}`));
  if (first.length > 0) steps.push({ checkpoint: undefined, writes: first, path: '', order: -1 });
  const before = new Map<string, string>();
  for (const checkpoint of checkpoints) {
    const path = pathOf(checkpoint.ns);
    const order = counts.get(path) ?? 0;
    counts.set(path, order + 1);
    const previous = before.get(checkpoint.ns);
    before.set(checkpoint.ns, checkpoint.checkpointId);
    const own = previous === undefined ? [] : (ofCheckpoint.get(`${checkpoint.ns} ${previous}`) ?? []);
    steps.push({ checkpoint, writes: own, path, order });
  }
  // Writes on the last checkpoint of each graph have no checkpoint after them.
  for (const [ns, checkpointId] of before) {
    const own = ofCheckpoint.get(`${ns} ${checkpointId}`) ?? [];
    if (own.length > 0) steps.push({ checkpoint: undefined, writes: own, path: pathOf(ns), order: Infinity });
  }
  return sortedByGraph(steps);
}

/**
 * In the order of the root graph's steps: between two of them the steps of subgraphs, by path. Parallel subgraphs of one
 * path are ordered by content, because their order is free.
 */
function sortedByGraph(steps: readonly (Step & { readonly path: string; readonly order: number })[]): Step[] {
  const sorted: Step[] = [];
  let inner: (Step & { readonly path: string; readonly order: number })[] = [];
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

const stepOf = (step: Step | undefined): number => {
  const given = step?.checkpoint?.metadata['step'];
  return typeof given === 'number' ? given : Number.MAX_SAFE_INTEGER;
};

const nodeOf = (write: RunWrite): string => {
  const name = /^~__pregel_(?:pull|push), (?:\d+, )?(.+?)(?:, .*)?$/s.exec(write.taskPath ?? '')?.[1];
  const path = pathOf(write.ns);
  return [path, name ?? ''].filter((part) => part !== '').join('|');
};

function compareSets(
  recorded: readonly RunWrite[],
  found: readonly RunWrite[],
  ids: IdMap,
  { mayLack, mayAdd }: { readonly mayLack: boolean; readonly mayAdd: boolean },
): Omit<Divergence, 'what' | 'step'> | undefined {
  const left = found.map(toWriteForm);
  const unmatched: WriteForm[] = [];
  for (const write of recorded.map(toWriteForm)) {
    const index = left.findIndex((each) => each.form.text === write.form.text);
    if (index < 0) {
      unmatched.push(write);
      continue;
    }
    const [other] = left.splice(index, 1);
    const isUnique = !left.some((each) => each.form.text === write.form.text);
    const conflict = isUnique ? ids.match(write.form.ids, other!.form.ids) : undefined;
    if (conflict !== undefined) return { ...placeOf(write), ...conflict };
  }
  const a = unmatched[0];
  if (a !== undefined && !(mayLack && left.length === 0)) {
    const b =
      left.find((each) => each.place === a.place) ??
      left.find((each) => each.write.channel === a.write.channel);
    const difference = b && firstDifference(parseStored(a.write.data), parseStored(b.write.data));
    return difference === undefined
      ? { ...placeOf(a), recorded: parseStored(a.write.data), found: undefined }
      : { ...placeOf(a), ...difference };
  }
  const extra = left[0];
  if (a !== undefined || extra === undefined || mayAdd) return undefined;
  return { ...placeOf(extra), recorded: undefined, found: parseStored(extra.write.data) };
}

interface WriteForm {
  readonly write: RunWrite;
  readonly form: NormalForm;
  /** Node, channel and index. */
  readonly place: string;
}

function toWriteForm(write: RunWrite): WriteForm {
  const place = JSON.stringify([nodeOf(write), write.channel, write.idx]);
  const { text, ids } = normalFormOf([nodeOf(write), write.channel, write.idx, parseStored(write.data)]);
  return { write, place, form: { text, ids } };
}

const placeOf = ({ write }: WriteForm): { node: string; channel: string } => ({
  node: nodeOf(write),
  channel: write.channel,
});

/** Members of a checkpoint's metadata that say where in the run it stands. */
const PLACE = ['source', 'step'] as const;

function compareCheckpoints(a: RunCheckpoint, b: RunCheckpoint, ids: IdMap): Divergence | undefined {
  const step = stepOf({ checkpoint: a, writes: [] });
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
