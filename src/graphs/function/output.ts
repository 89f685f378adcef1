import type { Clock } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { FrameSink } from '../frame-sink.ts';
import { frameNameOf, type StreamMode } from '../../protocol/stream-modes.ts';
import type { RunOrder } from '../port.ts';
import { publicMetadata } from '../private-keys.ts';
import { toRunConfig } from '../run-config.ts';
import { toWire } from '../wire.ts';
import { openDebugOutput } from './debug-output.ts';
import type { StagedCheckpoint } from './journal.ts';
import type { Applied } from './values.ts';

/** Emits a plain function's frames in LangGraph's form. Modes that were not requested cost nothing. */
export interface Output {
  started(input: Json): void;
  /** `state` is JSON text. */
  values(state: () => string): void;
  /** Emits the protocol's `checkpoints` frame; call it before the checkpoint's `values` frame. */
  note(staged: StagedCheckpoint): void;
  task(taskId: () => string, state: () => string): void;
  update(applied: Applied, step: number): void;
  checkpoint(staged: StagedCheckpoint, state: () => string, taskId: () => string): void;
  custom(chunk: unknown): void;
  paused(interrupt: JsonObject, taskId: () => string, state: () => string): void;
  ended(state: () => string, taskId: () => string): void;
}

export function openOutput(order: RunOrder, frames: FrameSink, clock: Pick<Clock, 'now'>): Output {
  const { graphId, runId } = order;
  const modes = new Set<StreamMode>(order.streamModes);
  const tags = [...(order.config.tags ?? [])];
  let known: JsonObject | undefined;
  const metadata = (): JsonObject =>
    (known ??= publicMetadata({ ...toRunConfig(order).metadata, thread_id: order.threadId }, order.config));
  const debug = openDebugOutput(order, (name, data) => frames.push(name, data), clock);
  const completedIds = new Set<unknown>();
  const event = (kind: string, name: string, data: string): void => {
    if (!modes.has('events')) return;
    const head = JSON.stringify({
      event: kind,
      name,
      run_id: runId,
      tags,
      metadata: metadata(),
      parent_ids: [],
    });
    frames.push('events', `${head.slice(0, -1)},"data":${data}}`);
  };
  const push = (mode: StreamMode, data: () => string): void => {
    if (modes.has(mode)) frames.push(frameNameOf(mode), data());
  };
  /** A function's messages are complete when first seen, so the mode `messages` has only metadata and complete frames. */
  const completed = (state: () => string): void => {
    if (!modes.has('messages')) return;
    const { messages } = JSON.parse(state()) as { messages?: { id?: string }[] };
    const fresh = (messages ?? []).filter(({ id }) => id !== undefined && !completedIds.has(id));
    if (fresh.length === 0) return;
    for (const { id } of fresh) completedIds.add(id);
    const described = fresh.map(({ id }) => [id, { metadata: metadata() }] as const);
    frames.push('messages/metadata', JSON.stringify(Object.fromEntries(described)));
    frames.push('messages/complete', JSON.stringify(fresh));
  };
  const values = (state: () => string): void => {
    push('values', state);
    completed(state);
  };
  return {
    started: (input) => event('on_chain_start', graphId, JSON.stringify({ input })),
    values,
    note({ checkpointId, parentId, step, metadata: { source } }) {
      if (order.protocolFrames !== true || modes.has('checkpoints')) return;
      const parent = parentId === null ? {} : { parent_id: parentId };
      frames.push('checkpoints', JSON.stringify({ id: checkpointId, ...parent, step, source }));
    },
    task: debug.started,
    update({ update }, step) {
      if (modes.has('messages-tuple')) {
        const { messages } = update();
        const messageMetadata = { ...metadata(), tags, langgraph_node: graphId, langgraph_step: step };
        for (const message of Array.isArray(messages) ? messages : [])
          push('messages-tuple', () => JSON.stringify([message, messageMetadata]));
      }
      push('updates', () => JSON.stringify({ [graphId]: update() }));
      debug.updated(update);
    },
    checkpoint: debug.checkpoint,
    custom(chunk) {
      if (!modes.has('custom') && !modes.has('events')) return;
      const text = JSON.stringify(toWire(chunk));
      push('custom', () => text);
      event('on_custom_event', 'custom', text);
    },
    paused(interrupt, taskId, state) {
      debug.ended(taskId, [interrupt]);
      push('updates', () => JSON.stringify({ __interrupt__: [interrupt] }));
      push('values', state);
    },
    ended(state, taskId) {
      debug.ended(taskId, []);
      if (modes.has('events')) event('on_chain_end', graphId, `{"output":${state()}}`);
    },
  };
}
