import type { JsonObject } from '../kernel/json.ts';
import type { RunOrder } from './port.ts';
import { publicConfigurable, toConfigurable } from './private-keys.ts';

/**
 * The run's config for graph code. A resumed attempt continues from the thread's head, so the checkpoint that the client
 * named is left out.
 */
export function toRunConfig(order: RunOrder): { configurable: JsonObject; metadata: JsonObject } {
  const configurable = {
    ...toConfigurable({ ...order.config.configurable, ...order.config.inherited }, order.user),
    run_id: order.runId,
    thread_id: order.threadId,
    graph_id: order.graphId,
    assistant_id: order.assistantId,
  };
  const checkpointKeys = new Set(['checkpoint_id', 'checkpoint_map', 'checkpoint_ns']);
  return {
    configurable: Object.fromEntries(
      Object.entries(configurable).filter(
        ([key, value]) => !checkpointKeys.has(key) || (!order.resume && value !== null),
      ),
    ),
    metadata: { ...order.config.metadata, ...toIdentity(order) },
  };
}

/** The metadata that every checkpoint of the run has. */
export function toCheckpointMetadata(order: RunOrder): JsonObject {
  return {
    ...publicConfigurable(order.config.configurable),
    ...order.config.metadata,
    ...toIdentity(order),
    thread_id: order.threadId,
  };
}

const toIdentity = (order: RunOrder): JsonObject => ({
  run_id: order.runId,
  run_attempt: order.attempt,
  graph_id: order.graphId,
  assistant_id: order.assistantId,
});
