/** The comparison of two runs as the API and `diff --json` tell it. */
import type { Json } from '../../kernel/json.ts';
import type { RunStatus } from '../../thread/run-end.ts';
import type { Tokens } from '../added-messages.ts';
import { joinPaths, type Difference } from '../compare/difference.ts';
import { compareRuns, errorOf, type RunSide } from '../compare/runs.ts';
import type { RunStep, RunSteps } from '../run-steps.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

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

export interface RunDiff {
  readonly equal: boolean;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  readonly first: {
    /** `input`, `step` (one run took a step that the other did not), `state` after a step, or `end`. */
    readonly what: 'input' | 'step' | 'state' | 'end';
    /** Index in `steps`; null for the input and the end. */
    readonly index: number | null;
    readonly difference: StateDifference | null;
  } | null;
  readonly steps: readonly { readonly a: ComparedStep | null; readonly b: ComparedStep | null }[];
  /** Differences of the values at the end of both runs, one for each channel. */
  readonly state: readonly StateDifference[];
}

export async function diffRuns(a: RunSide, b: RunSide): Promise<RunDiff> {
  const { first, pairs, state, ...sides } = await compareRuns(a, b);
  return {
    equal: first === undefined,
    a: describeRun(a.run, sides.a),
    b: describeRun(b.run, sides.b),
    first: first ? { what: first.what, index: first.pair ?? null, difference: describe(first) } : null,
    steps: pairs.map((pair) => ({ a: describeStep(pair.a), b: describeStep(pair.b) })),
    state: state.flatMap((difference) => describe(difference) ?? []),
  };
}

/** Null for steps and ends, which have no channel. */
const describe = ({ channel, path = '', recorded, found }: Difference): StateDifference | null =>
  channel === undefined
    ? null
    : {
        ...{ channel, path: joinPaths(channel, path) },
        ...(recorded !== undefined && { a: recorded }),
        ...(found !== undefined && { b: found }),
      };

const describeRun = (run: RunRecord, { steps, tookMs, added }: RunSteps): ComparedRun => ({
  run_id: run.runId,
  thread_id: run.threadId,
  graph_id: run.graphId,
  status: run.status,
  attempts: run.attempt,
  steps: steps.length,
  took_ms: tookMs ?? null,
  tokens: added.tokens ?? null,
  error: errorOf(run),
});

const describeStep = (step: RunStep | undefined): ComparedStep | null =>
  step === undefined
    ? null
    : {
        ...{ graph: step.graph, step: step.step, source: step.source, nodes: step.nodes },
        took_ms: step.tookMs ?? null,
      };
