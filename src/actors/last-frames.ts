/**
 * Builds the closing frames of a run's stream, which share the commit of its end: ends of open subgraphs, then the
 * error. An executor has the ledger of reported subgraphs in memory; otherwise it is read from the log.
 */
import type { EventLog } from '../store/port/log.ts';
import type { FrameText, PayloadWrite } from '../store/port/payloads.ts';
import { LIFECYCLE, openSubgraphLedger, type SubgraphLedger } from '../protocol/subgraph-frames.ts';
import type { Outcome, RunKwargs } from '../thread/events.ts';
import { runEndOf } from '../thread/run-end.ts';

type Modes = Pick<RunKwargs, 'streamMode'>;

/** Returns an empty ledger for a new run; undefined unless the client asked for the mode `lifecycle`. */
export const newLedger = ({ streamMode }: Modes): SubgraphLedger | undefined =>
  streamMode.includes(LIFECYCLE) ? openSubgraphLedger() : undefined;

/** Returns the ledger of subgraphs that the run's stored frames have reported. */
export const readLedger = async (
  log: EventLog,
  runId: string,
  { streamMode }: Modes,
): Promise<SubgraphLedger | undefined> =>
  streamMode.includes(LIFECYCLE)
    ? openSubgraphLedger(await log.payloads.framesNamed(runId, LIFECYCLE))
    : undefined;

/** Returns no frames for a rolled-back run, whose frames are deleted. */
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

/** Returns the closing frames of a begun run that ends without an executor. `modes`: of a run that has no row. */
export async function lastFrames(
  log: EventLog,
  {
    runId,
    threadId,
    outcome,
  }: { readonly runId: string; readonly threadId: string; readonly outcome: Outcome },
  modes?: Modes,
): Promise<PayloadWrite[]> {
  const asked = modes ?? (await log.views.runs.get(runId))?.kwargs;
  const frames = closingFrames(outcome, asked && (await readLedger(log, runId, asked)));
  if (frames.length === 0) return [];
  return [{ kind: 'frames', runId, threadId, first: (await log.payloads.lastFrame(runId)) + 1, frames }];
}
