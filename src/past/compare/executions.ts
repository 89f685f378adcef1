/**
 * Compares what a run left in the log with what its re-execution saved: step by step its writes and checkpoints, then its
 * frames and its end. Writes of a step are compared as a set; ids are matched one to one.
 */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import type { Json } from '../../kernel/json.ts';
import { parseStored, type RunCheckpoint, type RunTrace } from '../trace.ts';
import type { Difference } from './difference.ts';
import { compareFrames, type FrameDifference } from './frames.ts';
import { nodesOfStep, stepOf, toTraceSteps, type TraceStep } from './trace-steps.ts';
import { compareValues, openIdMap, type IdMap, type Sides } from './values.ts';
import { compareWrites, type WriteTolerance } from './writes.ts';

export interface Comparison {
  readonly divergence: Difference | undefined;
  readonly checkpoints: number;
  readonly writes: number;
  /** Undefined when frames were not compared. */
  readonly frames: number | undefined;
}

export interface CompareOptions {
  readonly recorded: RunTrace;
  readonly found: RunTrace;
  readonly sides: Sides;
  /** The re-execution ended early: what it did not reach is no difference. */
  readonly isPartial: boolean;
  /** The recorded run was stopped: what follows its last checkpoint is no difference. */
  readonly isStopped: boolean;
  /** Keys of checkpoints on which later runs replaced writes of the run. */
  readonly replaced: ReadonlySet<string>;
  /** False when other frames lead to the same states: those of attempts that broke off, of stubs, of a later start. */
  readonly withFrames: boolean;
  readonly nodeOf: WriteTolerance['nodeOf'];
}

export function compareTraces(options: CompareOptions): Comparison {
  const { recorded, found, sides, isPartial, isStopped } = options;
  const ids = openIdMap();
  const [expected, actual] = [toTraceSteps(recorded, sides.recorded), toTraceSteps(found, sides.found)];
  const counts = { checkpoints: 0, writes: 0, frames: undefined as number | undefined };
  const end = (divergence?: Difference): Comparison => ({ divergence, ...counts });

  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [expected[index], actual[index]];
    if (a === undefined && isStopped) break;
    if (b === undefined && isPartial) break;
    const step = (a ?? b)!;
    const isLast = index >= Math.min(expected.length, actual.length) - 1;
    const writes = compareWrites(a?.writes ?? [], b?.writes ?? [], sides, ids, {
      mayLack: isLast && (isPartial || isStopped),
      ...{ called: step.called, nodeOf: options.nodeOf },
      mayAdd: (isLast && isStopped) || a?.on.some((key) => options.replaced.has(key)) === true,
    });
    if (writes !== undefined) return end({ what: 'write', step: stepOf(step), ...writes });
    counts.writes += a?.writes.length ?? 0;
    if (a?.checkpoint === undefined || b?.checkpoint === undefined) {
      const lone = a?.checkpoint ?? b?.checkpoint;
      if (lone === undefined) continue;
      if (isPartial || isStopped) return end();
      return end({
        ...{ what: 'checkpoint', step: stepOf({ checkpoint: lone }), node: nodePathOf(lone.ns) },
        ...{
          recorded: a?.checkpoint && placeOf(a.checkpoint),
          found: b?.checkpoint && placeOf(b.checkpoint),
        },
      });
    }
    const divergence = compareCheckpoints(a.checkpoint, b.checkpoint, sides, ids);
    if (divergence !== undefined) return end(divergence);
    counts.checkpoints += 1;
  }
  if (isPartial || isStopped) return end();
  if (options.withFrames) {
    const frames = compareFrames(recorded.frames, found.frames, sides);
    counts.frames = recorded.frames.length;
    if (frames !== undefined)
      return end({ ...frames.difference, ...placeOfFrame(frames, actual, options.nodeOf) });
  }
  return end(compareEnds(recorded, found, sides));
}

/** Step and node of a frame that does not name them: they follow from the checkpoint behind it. */
function placeOfFrame(
  { difference: { what, step, node }, index }: FrameDifference,
  steps: readonly TraceStep[],
  nodeOf: WriteTolerance['nodeOf'],
): Pick<Difference, 'what' | 'step' | 'node'> {
  const behind = steps.find(({ path, checkpoint }) => path === '' && (checkpoint?.framesBefore ?? 0) > index);
  const [only, ...others] = behind === undefined ? [] : nodesOfStep(behind, nodeOf);
  return {
    what,
    ...(step !== undefined ? { step } : behind && { step: stepOf(behind) }),
    ...(node !== undefined ? { node } : only !== undefined && others.length === 0 && { node: only }),
  };
}

/** Place of a checkpoint in its run. */
const placeOf = ({ ns, metadata: { source = null, step = null } }: RunCheckpoint): Json => ({
  ...{ node: nodePathOf(ns), source, step },
});

function compareCheckpoints(
  a: RunCheckpoint,
  b: RunCheckpoint,
  sides: Sides,
  ids: IdMap,
): Difference | undefined {
  const node = nodePathOf(a.ns);
  const at = { what: 'checkpoint', step: stepOf({ checkpoint: a }), ...(node !== '' && { node }) } as const;
  const [recorded, found] = [placeOf(a), placeOf(b)];
  if (compareValues(recorded, found, sides) !== undefined) return { ...at, recorded, found };
  for (const channel of new Set([...a.changed, ...b.changed])) {
    const [textA, textB] = [a.channels.get(channel), b.channels.get(channel)];
    const difference = compareValues(parse(textA), parse(textB), sides, ids);
    if (difference !== undefined) return { ...at, channel, ...difference };
  }
  return undefined;
}

const parse = (text: string | undefined): Json | undefined =>
  text === undefined ? undefined : parseStored(text);

function compareEnds(recorded: RunTrace, found: RunTrace, sides: Sides): Difference | undefined {
  const difference = compareValues(toEnd(recorded.outcome), toEnd(found.outcome), sides);
  const failed = [found, recorded].find(({ outcome }) => outcome?.kind === 'error')?.outcome;
  const { step, node } = (failed?.kind === 'error' && failed.origin) || {};
  const place = { ...(step !== undefined && { step }), ...(node !== undefined && { node }) };
  return difference && { what: 'end', ...place, ...difference };
}

/** Kind and error of an end, and what waits; stacks differ with every change of the source. */
export function toEnd(outcome: RunTrace['outcome']): Json {
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
