/** The steps of one run, read from its own events and checkpoints alone. */
import { nodePathOf } from '../kernel/embedded-ids.ts';
import type { Json } from '../kernel/json.ts';
import { startTurn } from '../kernel/turn.ts';
import type { ThreadEventMap } from '../thread/events.ts';
import { addedBetween, type Added } from './added-messages.ts';
import { openStepNodes } from './step-nodes.ts';
import { stepTime } from './steps.ts';
import { readRunEvents, type RunSource } from './trace.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

export interface RunStep {
  /** Nodes from the root graph to the subgraph of the checkpoint; empty for the root graph. */
  readonly graph: string;
  readonly ns: string;
  readonly step: number;
  readonly source: string;
  /** Nodes that led to the checkpoint; empty for inputs and for libraries without task names. */
  readonly nodes: readonly string[];
  readonly checkpointId: string;
  /** Milliseconds since the previous checkpoint, or since the attempt's start. */
  readonly tookMs?: number;
}

export interface RunSteps {
  readonly steps: readonly RunStep[];
  /** Milliseconds of the last attempt; undefined while it executes. */
  readonly tookMs?: number;
  readonly added: Added;
  /** Undefined while the run is open. The run's record tells no origin of a failure. */
  readonly end: ThreadEventMap['RunCompleted'] | undefined;
  /** One command brought its beginning and its end: an import. */
  readonly isImported: boolean;
  /** The thread's values at the end of the run; null without any. */
  readonly values: Json;
}

export async function readRunSteps(source: RunSource, run: RunRecord): Promise<RunSteps> {
  const { payloads } = source;
  const { threadId, graphId } = run;
  const steps: RunStep[] = [];
  const turn = startTurn();
  const nodes = openStepNodes(payloads, threadId, async () => graphId);
  let first: Saved | undefined;
  let startedAt = 0;
  let endedAt: number | undefined;
  let end: ThreadEventMap['RunCompleted'] | undefined;
  const events = await readRunEvents(source, run);
  for (const event of events) {
    if (event.type === 'RunStarted') startedAt = event.meta.at;
    if (event.type === 'RunCompleted') [end, endedAt] = [event.data, event.meta.at];
    if (event.type !== 'CheckpointSaved') continue;
    const { data } = event;
    if (data.ns === '') first ??= data;
    const tookMs = stepTime(data, event.meta.at, startedAt);
    steps.push({
      ...{ graph: nodePathOf(data.ns), ns: data.ns, step: data.step, source: data.source },
      nodes: await nodes.before(data),
      checkpointId: data.checkpointId,
      ...(tookMs !== undefined && { tookMs }),
    });
    await turn();
  }
  const last = steps.findLast(({ graph }) => graph === '');
  const valuesAt = async (id: string | null | undefined): Promise<Json> =>
    id === null || id === undefined ? null : ((await payloads.values(threadId, id))?.parse() ?? null);
  const values = await valuesAt(run.head ?? last?.checkpointId);
  return {
    steps,
    ...(endedAt !== undefined && startedAt > 0 && { tookMs: endedAt - startedAt }),
    added: addedBetween(await valuesAt(first?.parentId), values),
    ...{ values, end },
    isImported: end !== undefined && events[0]!.meta.commandId === events.at(-1)!.meta.commandId,
  };
}

type Saved = ThreadEventMap['CheckpointSaved'];
