/**
 * The payloads of the stream modes `tasks`, `checkpoints` and `debug` (both, with type and timestamp). A4 The runtime's
 * payloads contain the run's whole config, so only public entries are copied.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { RunOrder } from '../port.ts';
import { publicConfigurable, publicMetadata } from '../private-keys.ts';
import { toWire } from '../wire.ts';

export interface DebugForm {
  /** A task's start `{id, name, input, triggers, interrupts}` or its result `{id, name, result, interrupts}`. */
  task(payload: unknown): Json;
  /** A checkpoint `{values, metadata, next, tasks, config, parent_config, checkpoint, parent_checkpoint}`. */
  checkpoint(payload: unknown): Json;
  /** A `debug` entry `{type, timestamp, step, payload}` with a task or checkpoint as payload. */
  entry(payload: unknown): Json;
}

/** `ofRun`: the metadata of the run's checkpoints. */
export function createDebugForm(order: RunOrder, ofRun: JsonObject): DebugForm {
  const task = (payload: unknown): Json => {
    const { metadata, error, ...wire } = asObject(toWire(payload));
    return {
      ...wire,
      ...(error !== undefined && { error: toTaskError(error) }),
      ...(metadata !== undefined && {
        metadata: isObject(metadata) ? publicMetadata(metadata, order.config) : metadata,
      }),
    };
  };

  const checkpoint = (payload: unknown): Json => {
    // The configs are removed before conversion, because they contain the runtime's internal objects.
    const { config, parentConfig, ...rest } = payload as Record<string, unknown>;
    const { metadata, tasks, ...wire } = asObject(toWire(rest));
    const own = asObject(metadata ?? {});
    const placed = withMap(asConfig(config), own['parents']);
    const parent = withMap(asConfig(parentConfig), own['parents']);
    return {
      ...wire,
      // Equals the stored metadata. A checkpoint with a `run_id` may be of an earlier run and keeps its own.
      metadata: own['run_id'] === undefined ? { ...ofRun, ...own } : own,
      tasks: (Array.isArray(tasks) ? tasks : []).map(toTask),
      config: toConfig(placed ?? {}, order),
      parent_config: parent === undefined ? null : toConfig(parent, order),
      checkpoint: toPlace(placed),
      parent_checkpoint: toPlace(parent),
    };
  };

  return {
    task,
    checkpoint,
    entry(payload) {
      const { payload: inner, type, step, timestamp } = payload as Record<string, unknown>;
      const form = type === 'checkpoint' ? checkpoint : task;
      return { type: toWire(type), timestamp: toWire(timestamp), step: toWire(step), payload: form(inner) };
    },
  };
}

interface RuntimeConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly metadata?: unknown;
  readonly tags?: unknown;
  readonly recursion_limit?: unknown;
}

const asConfig = (value: unknown): RuntimeConfig | undefined =>
  typeof value === 'object' && value !== null ? value : undefined;

/** Adds the checkpoint map to a subgraph's config: the ids of its parents and its own. */
function withMap(config: RuntimeConfig | undefined, parents: Json | undefined): RuntimeConfig | undefined {
  const { checkpoint_ns: ns, checkpoint_id: id } = config?.configurable ?? {};
  if (typeof ns !== 'string' || ns === '' || !isObject(parents)) return config;
  const map = { ...parents, ...(typeof id === 'string' && { [ns]: id }) };
  return { ...config, configurable: { ...config?.configurable, checkpoint_map: map } };
}

const REF_KEYS = ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'checkpoint_map'] as const;

function toConfig({ configurable = {}, metadata, ...rest }: RuntimeConfig, order: RunOrder): JsonObject {
  const keys = REF_KEYS.filter((key) => configurable[key] !== undefined);
  return {
    ...(rest.tags !== undefined && { tags: toWire(rest.tags) }),
    ...(rest.recursion_limit !== undefined && { recursion_limit: toWire(rest.recursion_limit) }),
    metadata: publicMetadata(asObject(toWire(metadata)), order.config),
    configurable: {
      ...publicConfigurable(order.config.configurable),
      ...Object.fromEntries(keys.map((key) => [key, toWire(configurable[key])])),
    },
  };
}

/** The reference to a checkpoint in the form of the state endpoints. */
function toPlace(config: RuntimeConfig | undefined): JsonObject | null {
  const {
    thread_id: threadId,
    checkpoint_ns: ns,
    checkpoint_id: id,
    checkpoint_map: map,
  } = config?.configurable ?? {};
  if (threadId === undefined) return null;
  return {
    thread_id: toWire(threadId),
    checkpoint_ns: toWire(ns ?? ''),
    checkpoint_id: toWire(id ?? null),
    checkpoint_map: toWire(map ?? null),
  };
}

/** A task's error in the wire form `{error, message}`. */
const toTaskError = (error: Json): Json =>
  isObject(error) ? { error: error['name'] ?? 'Error', message: error['message'] ?? '' } : error;

/** Replaces a subgraph task's config by the reference to the subgraph's checkpoint. */
function toTask(task: Json): Json {
  if (!isObject(task) || !isObject(task['state'])) return task;
  const { state, ...rest } = task;
  const configurable = isObject(state) ? state['configurable'] : undefined;
  return isObject(configurable) ? { ...rest, checkpoint: configurable } : task;
}

const asObject = (value: Json): JsonObject => (isObject(value) ? value : {});
