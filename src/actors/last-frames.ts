/**
 * The frames that end a run's stream, in the commit of its end: the ends of graphs within that are open, then the error.
 * An executor knows what its run has told; for a run without one the log does.
 */
import type { EventLog } from '../log/log.ts';
import type { FrameText, PayloadWrite } from '../log/payloads.ts';
import { getRun } from '../projections/run-queries.ts';
import { LIFECYCLE, openSubgraphLedger, type SubgraphLedger } from '../protocol/subgraph-frames.ts';
import type { Outcome, RunKwargs } from '../thread/events.ts';
import { runEndOf } from '../thread/run-end.ts';

type Modes = Pick<RunKwargs, 'streamMode'>;

/** The empty ledger of a new run; undefined when its client did not ask for the mode `lifecycle`. */
export const newLedger = ({ streamMode }: Modes): SubgraphLedger | undefined =>
  streamMode.includes(LIFECYCLE) ? openSubgraphLedger() : undefined;

/** The ledger of subgraphs that the stored frames of the run have told of. */
export const readLedger = async (
  log: EventLog,
  runId: string,
  { streamMode }: Modes,
): Promise<SubgraphLedger | undefined> =>
  streamMode.includes(LIFECYCLE)
    ? openSubgraphLedger(await log.payloads.framesOfMode(runId, LIFECYCLE))
    : undefined;

/** None of a run that is rolled back: its frames go. */
export function closingFrames(outcome: Outcome, ledger: SubgraphLedger | undefined): readonly FrameText[] {
  if (outcome.kind === 'rolled-back') return [];
  const { error, isFrame } = runEndOf(outcome, { attempt: 1, head: null });
  const failure: FrameText[] = isFrame ? [{ event: 'error', data: JSON.stringify(error) }] : [];
  return [...(ledger === undefined ? [] : endsFor(outcome, ledger)), ...failure];
}

function endsFor(outcome: Outcome, ledger: SubgraphLedger): readonly FrameText[] {
  const { error, isFrame } = runEndOf(outcome, { attempt: 1, head: null });
  if (isFrame && error !== null) return ledger.ends('failed', { error: error.error, message: error.message });
  const isFinished = outcome.kind === 'success' && outcome.next.length === 0;
  return ledger.ends(isFinished ? 'completed' : 'interrupted');
}

/** The last frames of a run that has begun and that ends without an executor. */
export async function lastFrames(
  log: EventLog,
  {
    runId,
    threadId,
    outcome,
  }: { readonly runId: string; readonly threadId: string; readonly outcome: Outcome },
): Promise<PayloadWrite[]> {
  const run = await getRun(log.rows, runId);
  const frames = closingFrames(outcome, run && (await readLedger(log, runId, run.kwargs)));
  if (frames.length === 0) return [];
  return [{ kind: 'frames', runId, threadId, first: (await log.payloads.lastFrame(runId)) + 1, frames }];
}
