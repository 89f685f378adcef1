/** Builds the order that the graph host executes, from the run's record and secret. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { RecordingOrder } from '../recording/order.ts';
import type { StreamMode } from '../protocol/stream-modes.ts';
import type { RunKwargs, RunRef } from '../thread/events.ts';
import type { RunSecret } from '../thread/secret.ts';
import type { Budget } from '../thread/usage.ts';
import type { RunOrder } from './port.ts';

/** Members of a run's record that its order is built from. */
export interface OrderedRun extends RunRef {
  readonly assistantId: string;
  readonly graphId: string;
  readonly attempt: number;
  readonly kwargs: RunKwargs;
  readonly metadata: JsonObject;
}

/** `resume`: an earlier attempt saved a checkpoint of the root graph. `recording`: present when the run is recorded. */
export function orderOf(
  run: OrderedRun,
  resume: boolean,
  input: Json,
  { user, inherited, ...keys }: RunSecret,
  recording?: RecordingOrder,
): RunOrder {
  const { kwargs } = run;
  const { tags, recursion_limit, configurable, metadata, budget } = kwargs.config;
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
    ...(kwargs.lateAnswer && { lateAnswer: kwargs.lateAnswer }),
    config: {
      ...(Array.isArray(tags) && { tags: tags as string[] }),
      ...(typeof recursion_limit === 'number' && { recursion_limit }),
      configurable: { ...(isObject(configurable) && configurable), ...keys.configurable },
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
    ...(kwargs.context !== undefined && {
      context: isObject(kwargs.context) ? { ...kwargs.context, ...keys.context } : kwargs.context,
    }),
    streamModes: kwargs.streamMode as StreamMode[],
    streamSubgraphs: kwargs.streamSubgraphs,
    ...(kwargs.interruptBefore !== undefined && {
      interruptBefore: kwargs.interruptBefore as '*' | string[],
    }),
    ...(kwargs.interruptAfter !== undefined && { interruptAfter: kwargs.interruptAfter as '*' | string[] }),
    ...(kwargs.durability !== undefined && { durability: kwargs.durability as 'sync' | 'async' | 'exit' }),
    protocolFrames: kwargs.protocol === 'v2',
    ...(isObject(budget) && { budget: budget as Budget }),
    ...(user && { user }),
    ...(recording && { recording }),
  };
}
