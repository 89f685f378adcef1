/**
 * The stream modes `tasks`, `checkpoints` and `debug` of a plain function: the call is shown as a graph's only task, and
 * each update as a checkpoint. Only requested modes are serialised.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { RunOrder } from '../port.ts';
import { publicConfigurable } from '../private-keys.ts';
import type { StagedCheckpoint } from './journal.ts';

export interface DebugOutput {
  /** `state` is JSON text. */
  started(taskId: () => string, state: () => string): void;
  updated(update: () => JsonObject): void;
  ended(taskId: () => string, interrupts: readonly Json[]): void;
  checkpoint(staged: StagedCheckpoint, state: () => string, taskId: () => string): void;
}

export function openDebugOutput(
  order: RunOrder,
  push: (event: string, data: string) => void,
  clock: Pick<Clock, 'now'>,
): DebugOutput {
  const { graphId: name, threadId } = order;
  const modes = new Set(order.streamModes);
  const writes = new Map<string, Json[]>();
  let step = -1;

  const emit = (mode: 'tasks' | 'checkpoints', type: string, text: () => string): void => {
    if (!modes.has(mode) && !modes.has('debug')) return;
    const payload = text();
    if (modes.has(mode)) push(mode, payload);
    if (!modes.has('debug')) return;
    const timestamp = new Date(clock.now()).toISOString();
    const head = JSON.stringify({ type, timestamp, step: mode === 'tasks' ? step + 1 : step });
    push('debug', `${head.slice(0, -1)},"payload":${payload}}`);
  };
  const toRef = (id: string | null): JsonObject | null =>
    id === null ? null : { thread_id: threadId, checkpoint_ns: '', checkpoint_id: id, checkpoint_map: null };
  const config = (id: string | null): JsonObject | null =>
    id === null
      ? null
      : {
          configurable: {
            ...publicConfigurable(order.config.configurable),
            thread_id: threadId,
            checkpoint_ns: '',
            checkpoint_id: id,
          },
        };

  return {
    started(id, state) {
      const tail = JSON.stringify({ triggers: [`branch:to:${name}`], interrupts: [] });
      emit('tasks', 'task', () => {
        const head = JSON.stringify({ id: id(), name });
        return `${head.slice(0, -1)},"input":${state()},${tail.slice(1)}`;
      });
    },
    updated(update) {
      if (!modes.has('tasks') && !modes.has('debug')) return;
      for (const [channel, value] of Object.entries(update()))
        writes.set(channel, [...(writes.get(channel) ?? []), value]);
    },
    ended(id, interrupts) {
      emit('tasks', 'task_result', () => {
        const result = Object.fromEntries(
          [...writes].map(([channel, [first, ...more]]) => [
            channel,
            more.length === 0 ? (first ?? null) : { $writes: [first ?? null, ...more] },
          ]),
        );
        return JSON.stringify({ id: id(), name, error: null, result, interrupts });
      });
    },
    checkpoint({ step: at, checkpointId, parentId, metadata }, state, taskId) {
      step = at;
      emit('checkpoints', 'checkpoint', () => {
        const next = metadata['source'] === 'loop' ? [] : [name];
        const path = ['__pregel_pull', name];
        const tasks = next.map(() => ({ id: taskId(), name, path, interrupts: [] }));
        const rest = JSON.stringify({
          metadata,
          next,
          tasks,
          config: config(checkpointId),
          parent_config: config(parentId),
          checkpoint: toRef(checkpointId),
          parent_checkpoint: toRef(parentId),
        });
        return `{"values":${state()},${rest.slice(1)}`;
      });
    },
  };
}
