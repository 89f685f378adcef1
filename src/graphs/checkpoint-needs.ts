/** Names the earlier checkpoints that a checkpoint depends on, so that pruning keeps them. */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { hasInterrupt, parseBody } from './function/checkpoint-body.ts';

export interface CheckpointTraits {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly body: string;
  readonly metadata: JsonObject;
  /** Channels of the checkpoint's pending writes. */
  readonly written: readonly string[];
}

/** The ids of the checkpoints, in the same namespace, that reading or resuming this one needs. */
export function deltaBasesOf({
  checkpointId,
  parentId,
  body,
  metadata,
  written,
}: CheckpointTraits): string[] {
  // LangGraph.js delta channels without a whole value since their last update: it consists of writes on the ancestors.
  // Each counter is a pair of updates and steps since the whole value was stored.
  const counters = metadata['counters_since_delta_snapshot'];
  const isSpread =
    isObject(counters) && Object.values(counters).some((of) => Array.isArray(of) && of[0] !== 0);
  if (parentId !== null && isSpread) return [parentId];
  // A plain function that is interrupted is called again with the state of its input checkpoint.
  const own = parseBody(body);
  if (own === undefined || !hasInterrupt(written) || own.record.input === checkpointId) return [];
  return [own.record.input];
}
