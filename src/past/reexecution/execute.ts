/**
 * Executes a recorded run again, in this process and offline: the recording answers, nothing is stored, and what the
 * run saves is compared with the log.
 *
 * R1 Nothing of it can reach the live thread: the run's link keeps everything in memory, and what reaches outside of the
 * run is refused.
 */
import { toErrorEnd } from '../../graphs/failure.ts';
import type { RunEnd, RunOrder } from '../../graphs/port.ts';
import { breathe } from '../../kernel/breathe.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { flatten } from '../../kernel/tagged.ts';
import { realNow } from '../../recording/clock.ts';
import { LOADING, NoAnswer, openPlayer, type Player } from '../../recording/player.ts';
import type { Outcome } from '../../thread/events.ts';
import type { Difference } from '../compare/difference.ts';
import { compareTraces, toEnd, type Comparison } from '../compare/executions.ts';
import { sideOf } from '../compare/side.ts';
import type { RunTrace } from '../trace.ts';
import type { RunData } from './run-data.ts';
import type { Sandbox } from './sandbox.ts';
import {
  answeredBefore,
  placeOfTask,
  stepOfTask,
  storeDifference,
  withPlace,
  type PlacedRequest,
} from './places.ts';
import { reasonsAgainst } from './reasons.ts';
import { openScratchLink } from './scratch-link.ts';
import { continueBehind, watchNodes, type Pauses } from './pauses.ts';
import { startOf, toOrder } from './start.ts';
import { WrongOption } from './wrong-option.ts';

export interface ReexecutionOptions {
  /** `url`: a request whose body differs gets the recorded answer of its URL. */
  readonly match: 'exact' | 'url';
  /** Requests that the recording does not have go to the real network. */
  readonly live: boolean;
  /** Bodies that replace those of recorded answers, by the number of the exchange, from 1. */
  readonly answers: ReadonlyMap<number, string>;
  /** Members that replace those of the run's input, or of the state that it starts from. */
  readonly set: JsonObject;
  /** Id of the run's checkpoint to start from. */
  readonly from?: string | undefined;
  /** Nodes whose writes are taken from the log. */
  readonly stubs: readonly string[];
  /** Requests and writes of the item store that are recorded and no longer made are no difference. */
  readonly allowUnused: boolean;
  readonly pauses?: Pauses;
  /** The result has the trace, for an expectation. */
  readonly wantsTrace?: boolean;
}

export interface Reexecution {
  readonly threadId: string;
  readonly runId: string;
  readonly graphId: string;
  readonly verdict: 'equal' | 'different' | 'untried';
  /** Why it is untried, and what graph code was refused. */
  readonly reasons: readonly string[];
  readonly comparison?: Comparison;
  /** The first request that differs from the recording. */
  readonly request?: PlacedRequest;
  /** Recorded exchanges. */
  readonly exchanges: number;
  /** End of the re-execution. */
  readonly outcome?: Outcome;
  /** Values at the end of the re-execution, or where it stopped. */
  readonly values?: Json;
  /** The recorded run failed; this one does what it did until then, and does not fail. */
  readonly passesFailure?: true;
  /** The node before which it was to stop; null when the run does not come there. */
  readonly stoppedBefore?: string | null;
  /** An option that the run or its graph does not have. */
  readonly wrongOption?: string;
  /** What was saved, when the options ask for it and all of it is there. */
  readonly trace?: RunTrace;
  /** What kept graph code from reaching outside. */
  readonly closedBy?: readonly string[];
}

export async function reexecute(
  data: RunData,
  sandbox: Sandbox,
  options: ReexecutionOptions,
): Promise<Reexecution> {
  try {
    return await execute(data, sandbox, options);
  } catch (error) {
    if (!(error instanceof WrongOption)) throw error;
    const { threadId, runId, graphId } = data.run;
    const reason = { reasons: [error.message], wrongOption: error.message };
    return { threadId, runId, graphId, verdict: 'untried', exchanges: 0, ...reason };
  }
}

async function execute(data: RunData, sandbox: Sandbox, options: ReexecutionOptions): Promise<Reexecution> {
  const { run } = data;
  const { pauses = {} } = options;
  const { before, breakOn } = pauses;
  let request: PlacedRequest | undefined;
  let store: Difference | undefined;
  const closed = new Set<string>();
  let isOver = false;
  let isStalled = false;
  const stop = new AbortController();
  const end = (): void => stop.abort('fenced');
  const isWhole = data.isWhole && options.from === undefined && options.stubs.length === 0;
  const player = openPlayer({
    ...{ parts: data.parts, match: options.match, live: options.live, answers: options.answers },
    ...{ realNow, isWhole },
    onDifference(difference) {
      request ??= withPlace(difference, player.agrees);
      end();
    },
    onStore(task, recorded, found) {
      if (player.start === undefined) closed.add(`the item store in ${placeOfTask(task)}`);
      else store ??= storeDifference(task, recorded, found, player.agrees);
      end();
    },
    onClosed(what, task) {
      const refused = `${what} in ${placeOfTask(task)}`;
      if (task === LOADING) sandbox.refusedAtLoad.add(refused);
      if (isOver)
        return sandbox.onLate(task === LOADING ? refused : `${what} after run ${run.runId} had ended`);
      if (task === LOADING) return;
      closed.add(refused);
      end();
    },
    onStalled() {
      if (options.live) return;
      isStalled = true;
      end();
    },
  });
  const base = {
    ...{ threadId: run.threadId, runId: run.runId, graphId: run.graphId },
    exchanges: player.exchanges.length,
  };
  const untried = (reasons: readonly string[]): Reexecution => ({ ...base, verdict: 'untried', reasons });

  const against = reasonsAgainst(data, player, options);
  if (against.length > 0) return untried(against);
  const watch = watchNodes(options.stubs, pauses);
  try {
    const { clock } = sandbox;
    const graphs = await sandbox.open(player, run.graphId, watch.onNodes);
    if (typeof graphs === 'string') return untried([graphs, ...sandbox.refusedAtLoad]);
    const started = await startOf(data, options);
    const scratch = openScratchLink({
      ...{ data: started.data, player, now: clock.now, isMoved: options.from !== undefined },
    });
    const order = toOrder(started.data, player, started, options);
    let thrown: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      if (!(error instanceof NoAnswer)) thrown ??= { error };
      end();
    };
    const { end: ended, ...left } = await sandbox.during({ fail, isRecorded: isEndOf(data.trace) }, () =>
      player.execute(async () => {
        const paused = await continueBehind({
          graphs,
          order,
          scratch,
          signal: stop.signal,
          trace: data.trace,
          ...options,
          pauses,
        });
        // Node tells of rejections that nothing handles after the code that made them.
        await breathe();
        return paused;
      }),
    );
    isOver = true;
    watch.check();
    const isPaused = left.isPaused || watch.isStopped();
    const outcome = toOutcome(thrown === undefined ? ended : toErrorEnd(thrown.error));
    const found: RunTrace = { ...scratch.trace(), outcome };
    const isStopped = wasStopped(data.trace.outcome);
    const isLoose = !isWhole || player.start === undefined || data.isExpected === true;
    const until = data.isExpected === true ? realNow() : run.updatedAt;
    const isPartial =
      request !== undefined || store !== undefined || closed.size > 0 || outcome === undefined || isPaused;
    const compared = compareTraces({
      ...{ recorded: started.data.trace, found, isPartial, isStopped, replaced: data.replaced },
      sides: {
        recorded: sideOf(data.trace, { from: run.createdAt, until, isLoose }),
        found: sideOf(found, { from: run.createdAt, until: realNow(), isLoose }),
        agrees: player.agrees,
      },
      ...{ withFrames: isWhole, nodeOf: player.nodeOf },
    });
    // A run that was stopped, or ended by an error that nothing handles, may ask for what its recording no longer has.
    const isExcused = (isStopped || thrown !== undefined) && (request ?? store)?.recorded === undefined;
    const mustUse = isWhole && !isPartial && !isStopped && !options.allowUnused;
    const divergence =
      compared.divergence ??
      (isExcused ? undefined : store) ??
      (isStalled && !isStopped && request === undefined && closed.size === 0
        ? missingEnd(data.trace)
        : undefined) ??
      (mustUse ? await firstUnused(player) : undefined);
    const comparison = { ...compared, divergence };
    const isWarm = request !== undefined && player.wasAskedBefore(request.found);
    if (request !== undefined && isWarm) closed.add(answeredBefore(request));
    const reasons = [...sandbox.refusedAtLoad, ...closed];
    // What a module was refused, or had from another run, may have made the difference.
    const isSure = !isWarm && sandbox.refusedAtLoad.size === 0;
    const isDifferent = divergence !== undefined || (request !== undefined && !isExcused);
    const isBehind = (each: { readonly recorded?: unknown } | undefined): boolean =>
      each?.recorded === undefined;
    const passesFailure =
      data.trace.outcome?.kind === 'error' &&
      outcome?.kind !== 'error' &&
      found.checkpoints.length >= data.trace.checkpoints.length &&
      isSure &&
      !isPaused &&
      closed.size === 0 &&
      isBehind(request) &&
      // A request of its own before those of the recording says nothing of the failure behind them.
      (request === undefined || (await firstUnused(player)) === undefined) &&
      (isBehind(divergence) || isFailure(divergence));
    return {
      ...{ ...base, comparison, values: valuesOf(found, order) },
      ...(passesFailure && { passesFailure }),
      ...(outcome && { outcome }),
      ...(before !== undefined && breakOn === undefined && { stoppedBefore: isPaused ? before : null }),
      ...(options.wantsTrace === true && !isPartial && { trace: found }),
      ...(request !== undefined && { request }),
      reasons,
      verdict: isDifferent && isSure ? 'different' : reasons.length > 0 ? 'untried' : 'equal',
    };
  } finally {
    player.close();
  }
}

/** The re-execution waits for ever, where the recorded run ended. */
const missingEnd = ({ outcome }: RunTrace): Difference => ({
  ...{ what: 'end', recorded: toEnd(outcome), found: undefined },
});

/** The first recorded request or write of the item store that the re-execution did not make. */
async function firstUnused(player: Player): Promise<Difference | undefined> {
  const { exchanges, writes } = await player.unused();
  if (exchanges[0] !== undefined) {
    const { task, request } = exchanges[0];
    const recorded = `${request.method} ${request.url}`;
    return { what: 'request', ...stepOfTask(task), recorded, found: undefined };
  }
  if (writes[0] === undefined) return undefined;
  const { task, request: recorded } = writes[0];
  return storeDifference(task, recorded, undefined, player.agrees);
}

/** The difference is that of the end, or of the write or frame of the recorded error. */
const isFailure = (difference: Difference | undefined): boolean =>
  difference?.what === 'end' ||
  difference?.channel === '__error__' ||
  (difference?.what === 'frame' && difference.channel === 'error');

/** Tells whether the recorded run ended with an error. */
const isEndOf =
  ({ outcome }: RunTrace) =>
  (error: unknown): boolean => {
    const end = toErrorEnd(error);
    return outcome?.kind === 'error' && outcome.error === end.error && outcome.message === end.message;
  };

function toOutcome({ observed: _, repeated: __, usage: ___, ...end }: RunEnd): Outcome | undefined {
  if (end.kind === 'stopped') return undefined;
  return end.kind === 'success' ? { kind: 'success', next: end.next, interrupts: end.interrupts } : end;
}

const wasStopped = (outcome: Outcome | undefined): boolean =>
  outcome?.kind === 'cancelled' || outcome?.kind === 'timeout';

/** Values of the last root checkpoint, of the channels that form the graph's state. */
function valuesOf({ checkpoints }: RunTrace, { graphId }: RunOrder): Json {
  const last = checkpoints.findLast(({ ns }) => ns === '');
  if (last === undefined) return null;
  const entries = [...last.channels].filter(
    ([name]) => !name.startsWith('__') && !name.includes(':') && name !== graphId,
  );
  return flatten(Object.fromEntries(entries.map(([name, text]) => [name, JSON.parse(text) as Json])));
}
