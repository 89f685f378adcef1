/** Compares two runs: their steps aligned, the first difference, and what differs in the state at the end. */
import { isObject, type Json } from '../../kernel/json.ts';
import { startTurn } from '../../kernel/turn.ts';
import { readRunSteps, type RunStep, type RunSteps } from '../run-steps.ts';
import type { RunSource } from '../trace.ts';
import { align } from './alignment.ts';
import type { Difference } from './difference.ts';
import { compareValues, type Side, type Sides } from './values.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

export interface RunSide {
  readonly source: RunSource;
  readonly run: RunRecord;
}

/** A step of both runs, or of one. */
interface StepPair {
  readonly a: RunStep | undefined;
  readonly b: RunStep | undefined;
}

export interface RunComparison {
  readonly a: RunSteps;
  readonly b: RunSteps;
  readonly pairs: readonly StepPair[];
  readonly first: RunDifference | undefined;
  /** Differences of the values at the end of both runs, one for each channel. */
  readonly state: readonly RunDifference[];
}

interface RunDifference extends Difference {
  /** A `step` is one that only one of the runs took; a `state` is that after a step. */
  readonly what: 'input' | 'step' | 'state' | 'end';
  /** Index in `pairs`; absent for the input and the end. */
  readonly pair?: number;
}

export async function compareRuns(a: RunSide, b: RunSide): Promise<RunComparison> {
  const [stepsA, stepsB] = [await readRunSteps(a.source, a.run), await readRunSteps(b.source, b.run)];
  const pairs = align(stepsA.steps.map(signatureOf), stepsB.steps.map(signatureOf)).map((pair) => ({
    a: pair.a === undefined ? undefined : stepsA.steps[pair.a],
    b: pair.b === undefined ? undefined : stepsB.steps[pair.b],
  }));
  const sides = { recorded: sideOfRun(a.run), found: sideOfRun(b.run) };
  const state = compareStates('end', stepsA.values, stepsB.values, sides);
  const first =
    compareStates('input', askedOf(a.run), askedOf(b.run), sides)[0] ??
    (await firstDifferentStep(a, b, pairs, sides)) ??
    state[0] ??
    compareEnds(a.run, b.run);
  return { a: stepsA, b: stepsB, pairs, first, state };
}

/** Two runs have clocks and random values of their own. */
export const sideOfRun = ({ createdAt, updatedAt }: RunRecord): Side => ({
  ...{ ids: new Set(), from: createdAt, until: updatedAt, isLoose: true },
});

const askedOf = ({ kwargs: { input, command } }: RunRecord): Json => ({
  input,
  ...(command !== undefined && { command }),
});

/** Steps with equal signatures can be the same step. Parallel nodes have no order. */
const signatureOf = ({ graph, source, nodes }: RunStep): string =>
  JSON.stringify([graph, source, nodes.toSorted()]);

async function firstDifferentStep(
  a: RunSide,
  b: RunSide,
  pairs: readonly StepPair[],
  sides: Sides,
): Promise<RunDifference | undefined> {
  const turn = startTurn();
  for (const [pair, steps] of pairs.entries()) {
    if (steps.a === undefined || steps.b === undefined)
      return { what: 'step', pair, recorded: shown(steps.a), found: shown(steps.b) };
    // Values are kept for root graphs; what a subgraph changes shows in its node's step.
    if (steps.a.graph !== '') continue;
    const states = [await valuesAt(a, steps.a), await valuesAt(b, steps.b)] as const;
    const [difference] = compareStates('state', ...states, sides);
    if (difference !== undefined) return { ...difference, pair, step: steps.a.step };
    await turn();
  }
  return undefined;
}

const shown = (step: RunStep | undefined): Json | undefined =>
  step && { source: step.source, step: step.step };

const valuesAt = async ({ source, run }: RunSide, { checkpointId }: RunStep): Promise<Json> =>
  (await source.payloads.values(run.threadId, checkpointId))?.parse() ?? null;

function compareEnds(a: RunRecord, b: RunRecord): RunDifference | undefined {
  const [recorded, found] = [a, b].map((run) => [run.status, errorOf(run)]);
  if (a.status === b.status && errorOf(a) === errorOf(b)) return undefined;
  return { what: 'end', recorded, found };
}

export const errorOf = ({ outcome }: RunRecord): string | null =>
  outcome?.kind === 'error' ? `${outcome.error}: ${outcome.message}` : null;

/** Returns one difference for each channel, in the order of the first run's channels. */
export function compareStates(what: RunDifference['what'], a: Json, b: Json, sides: Sides): RunDifference[] {
  const at = (channel: string, recorded: Json | undefined, found: Json | undefined): RunDifference[] => {
    const difference = compareValues(recorded, found, sides);
    return difference === undefined ? [] : [{ what, channel, ...difference }];
  };
  if (!isObject(a) || !isObject(b)) return at('', a, b);
  const channels = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...channels].flatMap((channel) => at(channel, a[channel], b[channel]));
}
