/** States of threads as clients see them. */
import { z } from 'zod';
import type { CheckpointRef, GraphState, GraphTask } from '../../graphs/port.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import { json, jsonObject } from '../fields.ts';

export const interrupt = z
  .looseObject({ id: z.string().optional(), value: json })
  .meta({ id: 'Interrupt', description: 'A question of the graph, which `command.resume` answers.' });

export const checkpoint = z
  .object({
    thread_id: z.string(),
    checkpoint_ns: z.string(),
    checkpoint_id: z.string().nullish(),
    checkpoint_map: jsonObject.nullish(),
  })
  .meta({ id: 'Checkpoint', description: 'A checkpoint of a thread.' });

const task = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.array(json),
    error: z.string().nullable(),
    interrupts: z.array(interrupt),
    checkpoint: checkpoint.nullable(),
    get state(): z.ZodNullable<z.ZodType> {
      return subgraphState.nullable();
    },
    result: json.nullable(),
  })
  .meta({ id: 'ThreadTask' });

const stateMembers = {
  values: json,
  next: z.array(z.string()),
  tasks: z.array(task),
  checkpoint: checkpoint.nullable(),
  parent_checkpoint: checkpoint.nullable(),
  metadata: jsonObject.nullable(),
  created_at: z.string().nullable(),
};

const subgraphState: z.ZodType = z
  .object({ ...stateMembers, interrupts: z.array(interrupt).optional() })
  .meta({ id: 'SubgraphState' });

export const threadState: z.ZodType = z
  .object({
    ...stateMembers,
    checkpoint_id: z.string().nullable(),
    parent_checkpoint_id: z.string().nullable(),
    interrupts: z.array(interrupt),
  })
  .meta({ id: 'ThreadState' });

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

/**
 * The state of a task's subgraph. Clients take a member `interrupts` in it for questions, so it is never empty, and they know
 * its checkpoints' ids only within these.
 */
function toNested(threadId: string, state: GraphState): Record<string, Sendable> {
  const {
    interrupts,
    checkpoint_id: _id,
    parent_checkpoint_id: _parentId,
    ...rest
  } = toState(threadId, state);
  return state.interrupts.length === 0 ? rest : { ...rest, interrupts: interrupts! };
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
    state: task.state && toNested(threadId, task.state),
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
