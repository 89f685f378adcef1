/**
 * Compares two runs: their steps aligned, the first divergence, what differs in the state, durations and tokens side by
 * side. Ids, times and durations inside values are no differences (`normal-form.ts`).
 */
import { isObject, type Json } from '../../kernel/json.ts';
import { startTurn } from '../../kernel/turn.ts';
import type { RunRecord } from '../../projections/run-queries.ts';
import type { RunStatus } from '../../thread/run-end.ts';
import type { Tokens } from '../added-messages.ts';
import { align } from './alignment.ts';
import { firstDifference } from './values.ts';
import { readRunSteps, type RunSource, type RunStep, type RunSteps } from '../run-steps.ts';

export interface RunSide {
  readonly source: RunSource;
  readonly run: RunRecord;
}

/** A run beside the other one. */
export interface ComparedRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly status: RunStatus;
  readonly attempts: number;
  readonly steps: number;
  readonly took_ms: number | null;
  readonly tokens: Tokens | null;
  /** Name and message of the error that ended the run. */
  readonly error: string | null;
}

export interface ComparedStep {
  readonly graph: string;
  readonly step: number;
  readonly source: string;
  readonly nodes: readonly string[];
  readonly took_ms: number | null;
}

export interface StateDifference {
  readonly channel: string;
  /** The first place in the channel's value that differs, such as `messages[2].content`. */
  readonly path: string;
  /** Left out when this side has nothing there. */
  readonly a?: Json;
  readonly b?: Json;
}

export interface StepPair {
  readonly a: ComparedStep | null;
  readonly b: ComparedStep | null;
}

export interface Divergence {
  /** `input`, `step` (one run took a step that the other did not), `state` after a step, or `end`. */
  readonly what: 'input' | 'step' | 'state' | 'end';
  /** Index in `steps`; null for the input and the end. */
  readonly index: number | null;
  readonly difference: StateDifference | null;
}

export interface RunDiff {
  readonly equal: boolean;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  readonly first: Divergence | null;
  readonly steps: readonly StepPair[];
  /** Differences of the values at the end of both runs, one for each channel. */
  readonly state: readonly StateDifference[];
}

export async function compareRuns(a: RunSide, b: RunSide): Promise<RunDiff> {
  const [stepsA, stepsB] = [await readRunSteps(a.source, a.run), await readRunSteps(b.source, b.run)];
  const pairs = align(stepsA.steps.map(signatureOf), stepsB.steps.map(signatureOf)).map((pair) => ({
    a: pair.a === undefined ? undefined : stepsA.steps[pair.a],
    b: pair.b === undefined ? undefined : stepsB.steps[pair.b],
  }));
  const state = differencesOf(stepsA.values, stepsB.values);
  const first =
    differentInput(a.run, b.run) ??
    (await firstDivergence(a, b, pairs)) ??
    differentEnd(a.run, b.run, state[0]);
  return {
    equal: first === null,
    a: describeRun(a.run, stepsA),
    b: describeRun(b.run, stepsB),
    first,
    steps: pairs.map((pair) => ({ a: describeStep(pair.a), b: describeStep(pair.b) })),
    state,
  };
}

function differentInput(a: RunRecord, b: RunRecord): Divergence | undefined {
  const [difference] = differencesOf(askedOf(a), askedOf(b));
  return difference && { what: 'input', index: null, difference };
}

const askedOf = ({ kwargs: { input, command } }: RunRecord): Json =>
  ({ input, ...(command !== undefined && { command }) }) as Json;

interface AlignedSteps {
  readonly a: RunStep | undefined;
  readonly b: RunStep | undefined;
}

/** Steps with equal signatures can be the same step. Parallel nodes have no order. */
const signatureOf = ({ graph, source, nodes }: RunStep): string =>
  JSON.stringify([graph, source, nodes.toSorted()]);

async function firstDivergence(
  a: RunSide,
  b: RunSide,
  pairs: readonly AlignedSteps[],
): Promise<Divergence | undefined> {
  const turn = startTurn();
  for (const [index, pair] of pairs.entries()) {
    if (pair.a === undefined || pair.b === undefined) return { what: 'step', index, difference: null };
    // Values are kept for root graphs; what a subgraph changes shows in its node's step.
    if (pair.a.graph !== '') continue;
    const [difference] = differencesOf(await valuesAt(a, pair.a), await valuesAt(b, pair.b));
    if (difference !== undefined) return { what: 'state', index, difference };
    await turn();
  }
  return undefined;
}

const valuesAt = async ({ source, run }: RunSide, { checkpointId }: RunStep): Promise<Json> =>
  (await source.payloads.values(run.threadId, checkpointId))?.parse() ?? null;

function differentEnd(
  a: RunRecord,
  b: RunRecord,
  difference: StateDifference | undefined,
): Divergence | null {
  const isEqual = a.status === b.status && errorOf(a) === errorOf(b) && difference === undefined;
  return isEqual ? null : { what: 'end', index: null, difference: difference ?? null };
}

/** One difference for each channel, in the order of the first run's channels. */
function differencesOf(a: Json, b: Json): StateDifference[] {
  if (!isObject(a) || !isObject(b)) {
    const difference = firstDifference(a, b);
    return difference === undefined ? [] : [toStateDifference('', difference)];
  }
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((channel) => {
    const [valueA, valueB] = [a[channel], b[channel]];
    const difference =
      valueA === undefined || valueB === undefined
        ? { path: channel, recorded: valueA, found: valueB }
        : firstDifference(valueA, valueB, channel);
    return difference === undefined ? [] : [toStateDifference(channel, difference)];
  });
}

const toStateDifference = (
  channel: string,
  { path, recorded, found }: NonNullable<ReturnType<typeof firstDifference>>,
): StateDifference => ({
  ...{ channel, path },
  ...(recorded !== undefined && { a: recorded }),
  ...(found !== undefined && { b: found }),
});

const describeRun = (run: RunRecord, { steps, tookMs, tokens }: RunSteps): ComparedRun => ({
  run_id: run.runId,
  thread_id: run.threadId,
  graph_id: run.graphId,
  status: run.status,
  attempts: run.attempt,
  steps: steps.length,
  took_ms: tookMs ?? null,
  tokens: tokens ?? null,
  error: errorOf(run),
});

const errorOf = ({ outcome }: RunRecord): string | null =>
  outcome?.kind === 'error' ? `${outcome.error}: ${outcome.message}` : null;

const describeStep = (step: RunStep | undefined): ComparedStep | null =>
  step === undefined
    ? null
    : {
        ...{ graph: step.graph, step: step.step, source: step.source, nodes: step.nodes },
        took_ms: step.tookMs ?? null,
      };
