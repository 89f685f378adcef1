/** Serializes records for clients: snake_case, timestamps with offset, no secrets of users (A4). */
import { toTimestamp } from '../kernel/clock.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { JsonText, Sendable } from '../kernel/json-text.ts';
import { maskUrl } from '../delivery/mask.ts';
import type { CheckpointRef, GraphState, GraphTask } from '../graphs/port.ts';
import type { RunRecord } from '../projections/run-queries.ts';
import type { RunKwargs } from '../thread/events.ts';
import type { StorageSum, StorageUse } from '../log/payloads.ts';
import type { ThreadRecord, ThreadTtl } from '../projections/thread-queries.ts';
import { runEndOf } from '../thread/run-end.ts';

/** `config` is that of the thread's last run. */
export function toThread(
  thread: ThreadRecord,
  { values, config }: { readonly values: JsonText | undefined; readonly config: JsonObject | undefined },
): Record<string, Json | JsonText> {
  return {
    thread_id: thread.threadId,
    created_at: toTimestamp(thread.createdAt),
    updated_at: toTimestamp(thread.updatedAt),
    state_updated_at: toTimestamp(thread.stateUpdatedAt ?? thread.createdAt),
    metadata: thread.metadata,
    status: thread.status,
    config: config === undefined ? {} : { ...config, configurable: {} },
    values: values ?? null,
    interrupts: thread.interrupts,
    // Present from the first run on; null after a successful one.
    ...((thread.stateUpdatedAt !== null || thread.error !== null) && { error: thread.error }),
  };
}

/** `expires_at` is null when nothing expires: the thread was pruned and no run has ended since. */
export const toTtl = ({ strategy, minutes, expiresAt }: ThreadTtl): JsonObject => ({
  strategy: strategy === 'delete' ? 'delete' : 'keep_latest',
  ttl_minutes: minutes,
  expires_at: expiresAt === null ? null : toTimestamp(expiresAt),
});

export function toStorage(threadId: string, { checkpoints, channels, writes }: StorageUse): JsonObject {
  const sum = (pick: (each: StorageSum) => number): number =>
    channels.reduce((total, each) => total + pick(each), 0);
  const bytes = sum((each) => each.bytes);
  return {
    thread_id: threadId,
    total_bytes: checkpoints.bytes + bytes + writes.bytes,
    checkpoints: { ...checkpoints },
    channel_values: {
      count: sum((each) => each.count),
      bytes,
      by_channel: Object.fromEntries(
        channels.map((each) => [each.channel, { versions: each.count, bytes: each.bytes }]),
      ),
    },
    pending_writes: { ...writes },
  };
}

/** `error` is present when the run did not succeed. */
export function toRun(run: RunRecord): JsonObject {
  const error = run.outcome && runEndOf(run.outcome, run).error;
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    created_at: toTimestamp(run.createdAt),
    updated_at: toTimestamp(run.updatedAt),
    status: run.status,
    metadata: run.metadata,
    kwargs: toKwargs(run.kwargs, run.metadata),
    multitask_strategy: run.strategy,
    cancel_reason: run.cancelReason,
    ...(error !== null && { error: { ...error } }),
  };
}

export const DEFAULT_DURABILITY = 'async';

/** `metadata` is that of the run; it overrides `config.metadata`. */
export function toKwargs(kwargs: RunKwargs, metadata: JsonObject): JsonObject {
  return {
    input: kwargs.input,
    command: kwargs.command ?? null,
    ...(kwargs.strictResume === true && { strict_resume: true }),
    config: {
      ...kwargs.config,
      metadata: { ...(kwargs.config['metadata'] as JsonObject | undefined), ...metadata },
    },
    context: kwargs.context ?? {},
    stream_mode: [...kwargs.streamMode],
    interrupt_before: kwargs.interruptBefore ?? null,
    interrupt_after: kwargs.interruptAfter ?? null,
    webhook: kwargs.webhook === undefined ? null : maskUrl(kwargs.webhook),
    feedback_keys: kwargs.feedbackKeys === undefined ? null : [...kwargs.feedbackKeys],
    subgraphs: kwargs.streamSubgraphs,
    resumable: kwargs.resumable ?? false,
    temporary: kwargs.onCompletion === 'delete',
    checkpoint_during: kwargs.checkpointDuring ?? true,
    durability: kwargs.durability ?? DEFAULT_DURABILITY,
  };
}

/** Checkpoint ids appear inside the objects and at the top level: clients read either. */
function checkpointIds(checkpoint: JsonObject | null, parent: JsonObject | null): JsonObject {
  return {
    checkpoint,
    parent_checkpoint: parent,
    checkpoint_id: checkpoint?.['checkpoint_id'] ?? null,
    parent_checkpoint_id: parent?.['checkpoint_id'] ?? null,
  };
}

/** The state of a thread without checkpoints. */
export const emptyState: JsonObject = {
  values: {},
  next: [],
  tasks: [],
  ...checkpointIds(null, null),
  metadata: null,
  created_at: null,
  interrupts: [],
};

export function toState(threadId: string, state: GraphState): Record<string, Sendable> {
  return {
    values: state.values,
    next: [...state.next],
    tasks: state.tasks.map((task) => toTask(threadId, task)),
    ...checkpointIds(
      toCheckpoint(threadId, state.checkpoint),
      toCheckpoint(threadId, state.parentCheckpoint),
    ),
    metadata: state.metadata ?? null,
    created_at: state.createdAt,
    interrupts: [...state.interrupts],
  };
}

function toTask(threadId: string, task: GraphTask): Record<string, Sendable> {
  return {
    id: task.id,
    name: task.name,
    path: [...task.path],
    error: task.error,
    interrupts: [...task.interrupts],
    // A subgraph's task names only its namespace: reading that state resolves the namespace's head.
    checkpoint: task.checkpoint && { thread_id: threadId, checkpoint_ns: task.checkpoint.ns },
    state: task.state && toState(threadId, task.state),
    result: task.result,
  };
}

export const toCheckpoint = (threadId: string, ref: CheckpointRef | null): JsonObject | null =>
  ref && {
    thread_id: threadId,
    checkpoint_ns: ref.ns,
    checkpoint_id: ref.id,
    checkpoint_map: ref.map ?? null,
  };
