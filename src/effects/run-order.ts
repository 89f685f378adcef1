/** Builds the order that the graph host executes, from the run's record and secret. */
import type { RunOrder } from '../graphs/port.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../log/log.ts';
import type { RecordingOrder } from '../recording/order.ts';
import { unpackPart } from '../recording/parts.ts';
import type { RunRecord } from '../projections/run-queries.ts';
import type { StreamMode } from '../protocol/stream-modes.ts';
import type { RunSecret } from '../thread/secret.ts';

/** State of the run that its thread adds to the order. */
export interface Standing {
  /** An earlier attempt has saved a checkpoint of the root graph. */
  readonly resume: boolean;
  /** The run is a suspect of server deaths and needs a worker of its own. */
  readonly alone: boolean;
}

export interface RecordingSettings extends Omit<RecordingOrder, 'seed'> {
  /** Whether runs are recorded whose config does not say. */
  readonly byDefault: boolean;
}

/** `recording` in the config of the run, or of its assistant, overrides the deployment's setting. */
export async function recordingOf(
  { kwargs, runId, attempt }: RunRecord,
  settings: RecordingSettings | undefined,
  { payloads }: Pick<EventLog, 'payloads'>,
  ids: Pick<Ids, 'token'>,
): Promise<RecordingOrder | undefined> {
  if (settings === undefined) return undefined;
  const { byDefault, ...limits } = settings;
  const { recording = byDefault } = kwargs.config;
  if (recording !== true) return undefined;
  // All attempts draw from one seed: the log does not tell which of them a task's writes are of.
  const [start] = attempt > 1 ? await payloads.recording(runId, 1) : [];
  const known = start && unpackPart(start);
  return { ...limits, seed: known?.kind === 'start' ? known.seed : ids.token() };
}

/** `recording`: present when the run is recorded. */
export function orderOf(
  run: RunRecord,
  { resume, alone }: Standing,
  input: Json,
  { user, inherited }: RunSecret,
  recording?: RecordingOrder,
): RunOrder {
  const { kwargs } = run;
  const { tags, recursion_limit, configurable, metadata } = kwargs.config;
  const { runId, threadId } = run;
  return {
    runId,
    threadId,
    assistantId: run.assistantId,
    graphId: run.graphId,
    attempt: run.attempt,
    resume,
    input,
    ...(kwargs.command && { command: kwargs.command }),
    ...(kwargs.strictResume === true && { strictResume: true }),
    config: {
      ...(Array.isArray(tags) && { tags: tags as string[] }),
      ...(typeof recursion_limit === 'number' && { recursion_limit }),
      configurable: isObject(configurable) ? configurable : {},
      ...(inherited && { inherited }),
      ...(kwargs.madeWith && { madeWith: kwargs.madeWith }),
      metadata: {
        ...(isObject(metadata) && metadata),
        ...run.metadata,
        run_id: runId,
        thread_id: threadId,
        run_attempt: run.attempt,
      },
    },
    ...(kwargs.context !== undefined && { context: kwargs.context }),
    streamModes: kwargs.streamMode as StreamMode[],
    streamSubgraphs: kwargs.streamSubgraphs,
    ...(kwargs.interruptBefore !== undefined && {
      interruptBefore: kwargs.interruptBefore as '*' | string[],
    }),
    ...(kwargs.interruptAfter !== undefined && { interruptAfter: kwargs.interruptAfter as '*' | string[] }),
    ...(kwargs.durability !== undefined && { durability: kwargs.durability as 'sync' | 'async' | 'exit' }),
    protocolFrames: kwargs.protocol === 'v2',
    ...(user && { user }),
    ...(recording && { recording }),
    ...(alone && { alone }),
  };
}
