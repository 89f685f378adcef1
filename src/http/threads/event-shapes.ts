/** Events of a thread as clients see them. A4 The URL of a webhook is masked, and leases are omitted. */
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import { uuidTime } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { StepNodes } from '../../past/step-nodes.ts';
import type { Recorded } from '../../store/port/events.ts';
import { THREAD_EVENTS, type ThreadEvent, type ThreadEventMap } from '../../thread/events.ts';
import type { Origin, RepeatedCalls } from '../../thread/origin.ts';
import { runEndOf } from '../../thread/run-end.ts';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';
import { shownKwargs } from '../runs/kwargs.ts';
import { runError, shownUsage, usage } from '../runs/shapes.ts';

type EventName = ThreadEvent['type'];

const origin = {
  node: z
    .string()
    .optional()
    .meta({ description: 'Nodes from the root graph to the one that failed, joined by `|`.' }),
  channel: z.string().optional(),
  step: z.int().optional(),
  remedy: z.string().optional(),
  stack: z.string().optional(),
};

export const threadEvent = z
  .object({
    version: z.int(),
    type: z.enum(Object.keys(THREAD_EVENTS) as [EventName, ...EventName[]]),
    at: time,
    by: z.string().optional().meta({ description: 'Identity of the user whose request caused the event.' }),
    erased: z.literal(true).optional().meta({ description: 'The content of the event was deleted.' }),
    run_id: id.optional(),
    attempt: z.int().optional(),
    metadata: jsonObject.optional(),
    title: z.string().optional(),
    assistant_id: id.optional(),
    graph_id: z.string().optional(),
    kwargs: jsonObject.optional().meta({ description: 'Input and settings that the run was created with.' }),
    multitask_strategy: z.string().optional(),
    reason: z.string().optional(),
    lost: z.boolean().optional().meta({ description: 'The process of the attempt died.' }),
    action: z.string().optional(),
    checkpoint_id: z.string().nullable().optional(),
    parent_checkpoint_id: z.string().nullable().optional(),
    checkpoint_ns: z.string().optional(),
    step: z.int().optional(),
    source: z.string().optional(),
    made_at: time.optional().meta({ description: 'When the checkpoint was made; `at` is its commit.' }),
    nodes: z.array(z.string()).optional().meta({ description: 'Nodes that led to the checkpoint.' }),
    usage: usage.optional().meta({ description: 'Of the run, up to this event.' }),
    outcome: z.enum(['success', 'error', 'timeout', 'cancelled', 'rolled-back']).optional(),
    error: runError.extend(origin).optional(),
    next: z.array(z.string()).optional(),
    interrupts: jsonObject.optional().meta({ description: 'Open questions by task id.' }),
    warnings: z.array(z.object({ message: z.string(), ...origin })).optional(),
    repeated: z
      .array(z.object({ node: z.string(), served: z.array(z.int()), again: z.array(z.int()) }))
      .optional()
      .meta({ description: 'Calls of earlier attempts: served from the log, and asked again.' }),
    run_ids: z.array(id).optional(),
    from: json.optional().meta({ description: 'The thread that was copied, or the exported file.' }),
  })
  .meta({
    id: 'ThreadEvent',
    description: 'An event of a thread; which members it has depends on its type.',
  });

export async function toThreadEvent(
  event: Recorded<ThreadEvent>,
  nodes: StepNodes,
): Promise<Record<string, Json>> {
  const { meta, type, data } = event;
  return {
    version: meta.version,
    type,
    at: toTimestamp(meta.at),
    ...(data.by !== undefined && { by: data.by }),
    ...(isErased(event) && { erased: true }),
    ...('runId' in data && { run_id: data.runId }),
    ...('attempt' in data && { attempt: data.attempt }),
    ...membersOf(event),
    ...(type === 'CheckpointSaved' && { nodes: [...(await nodes.before(data))] }),
  };
}

function membersOf({ type, data }: ThreadEvent): Record<string, Json> {
  switch (type) {
    case 'ThreadCreated':
    case 'ThreadUpdated':
      return { metadata: data.metadata };
    case 'ThreadImported':
      return {
        metadata: data.metadata,
        from: { thread_id: data.origin.threadId, digest: data.origin.digest },
      };
    case 'ThreadCopied':
      return {
        ...{ from: { thread_id: data.from }, metadata: data.metadata, checkpoint_id: data.head },
        ...(data.graph && { graph_id: data.graph.graphId, assistant_id: data.graph.assistantId }),
        ...(data.title !== undefined && { title: data.title }),
      };
    case 'ThreadPruned':
      return data.runs === undefined ? {} : { run_ids: [...data.runs] };
    case 'RunCreated':
      return {
        ...{ assistant_id: data.assistantId, graph_id: data.graphId, multitask_strategy: data.strategy },
        ...{ metadata: data.metadata, kwargs: shownKwargs(data.kwargs, data.metadata) },
        ...(data.title !== undefined && { title: data.title }),
      };
    case 'RunStarted':
    case 'RunBegun':
    case 'ThreadDeleted':
      return {};
    case 'RunRequeued':
      return { reason: data.reason, lost: data.lost };
    case 'RunCancelRequested':
      return { action: data.action, reason: data.reason };
    case 'CheckpointSaved':
      return {
        ...{ checkpoint_id: data.checkpointId, parent_checkpoint_id: data.parentId, checkpoint_ns: data.ns },
        ...{ step: data.step, source: data.source },
        ...madeAt(data.checkpointId),
        ...(data.usage && { usage: shownUsage(data.usage) }),
      };
    case 'StateUpdated':
      return { checkpoint_id: data.head, next: [...data.next], interrupts: data.interrupts };
    case 'RunCompleted':
      return endOf(data);
    case 'RunDeleted':
      return { checkpoint_id: data.head };
  }
}

function madeAt(checkpointId: string): Record<string, Json> {
  const time = uuidTime(checkpointId);
  return time === undefined ? {} : { made_at: toTimestamp(time) };
}

function endOf(data: ThreadEventMap['RunCompleted']): Record<string, Json> {
  const { outcome, observed, repeated, usage: used } = data;
  const { error } = runEndOf(outcome, data);
  return {
    outcome: outcome.kind,
    checkpoint_id: data.head,
    ...(outcome.kind === 'success' && { next: [...outcome.next], interrupts: outcome.interrupts }),
    ...(error && {
      error: { ...error, ...(outcome.kind === 'error' && outcome.origin && toOrigin(outcome.origin)) },
    }),
    ...(used && { usage: shownUsage(used) }),
    ...(observed &&
      observed.warnings.length > 0 && {
        warnings: observed.warnings.map(({ message, ...where }) => ({ message, ...toOrigin(where) })),
      }),
    ...(repeated && { repeated: repeated.map(toRepeated) }),
  };
}

const toOrigin = (found: Origin): JsonObject => ({ ...found });
const toRepeated = ({ node, served, again }: RepeatedCalls): JsonObject => ({
  node,
  served: [...served],
  again: [...again],
});

/** Whether `redact.ts` has removed the event's content; what ordering depends on stays. */
function isErased({ type, data }: ThreadEvent): boolean {
  if (type === 'RunCreated') return data.kwargs.input === null && !('configurable' in data.kwargs.config);
  if (type === 'RunRequeued') return data.reason === '';
  if (type !== 'RunCompleted') return false;
  const { outcome } = data;
  return outcome.kind === 'error'
    ? outcome.error === ''
    : outcome.kind === 'timeout' && outcome.message === '';
}
