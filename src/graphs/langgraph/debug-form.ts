/**
 * The payloads of the stream modes `tasks`, `checkpoints` and `debug` (which is both, each with its kind and time).
 * A4 The runtime puts the whole config of the run into them, so only what may be shown is taken over.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { RunOrder } from '../port.ts';
import { publicConfigurable, publicMetadata } from '../private-keys.ts';
import { toWire } from '../wire.ts';

export interface DebugForm {
  /** `{id, name, input, triggers, interrupts}` of a task that starts, `{id, name, result, interrupts}` of one that ended. */
  task(payload: unknown): Json;
  /** `{values, metadata, next, tasks, config, parent_config, checkpoint, parent_checkpoint}` */
  checkpoint(payload: unknown): Json;
  /** `{type, timestamp, step, payload}` around one of the two. */
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
    // Before the conversion: the config holds the runtime's own machinery, which no client can use.
    const { config, parentConfig, ...rest } = payload as Record<string, unknown>;
    const { metadata, tasks, ...wire } = asObject(toWire(rest));
    const own = asObject(metadata ?? {});
    const placed = withMap(asConfig(config), own['parents']);
    const parent = withMap(asConfig(parentConfig), own['parents']);
    return {
      ...wire,
      // As the history has it: the checkpoint that a run goes on from may be another run's.
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

/** The checkpoint of a graph within names those of the graphs around it, and itself. */
function withMap(config: RuntimeConfig | undefined, parents: Json | undefined): RuntimeConfig | undefined {
  const { checkpoint_ns: ns, checkpoint_id: id } = config?.configurable ?? {};
  if (typeof ns !== 'string' || ns === '' || !isObject(parents)) return config;
  const map = { ...parents, ...(typeof id === 'string' && { [ns]: id }) };
  return { ...config, configurable: { ...config?.configurable, checkpoint_map: map } };
}

const PLACE = ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'checkpoint_map'] as const;

function toConfig({ configurable = {}, metadata, ...rest }: RuntimeConfig, order: RunOrder): JsonObject {
  const place = PLACE.filter((key) => configurable[key] !== undefined);
  return {
    ...(rest.tags !== undefined && { tags: toWire(rest.tags) }),
    ...(rest.recursion_limit !== undefined && { recursion_limit: toWire(rest.recursion_limit) }),
    metadata: publicMetadata(asObject(toWire(metadata)), order.config),
    configurable: {
      ...publicConfigurable(order.config.configurable),
      ...Object.fromEntries(place.map((key) => [key, toWire(configurable[key])])),
    },
  };
}

/** A checkpoint as the state endpoints name it. */
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

/** What a task threw, in the form of every other error on the wire. */
const toTaskError = (error: Json): Json =>
  isObject(error) ? { error: error['name'] ?? 'Error', message: error['message'] ?? '' } : error;

/** The task of a subgraph says where that keeps its state. */
function toTask(task: Json): Json {
  if (!isObject(task) || !isObject(task['state'])) return task;
  const { state, ...rest } = task;
  const configurable = isObject(state) ? state['configurable'] : undefined;
  return isObject(configurable) ? { ...rest, checkpoint: configurable } : task;
}

const asObject = (value: Json): JsonObject => (isObject(value) ? value : {});
