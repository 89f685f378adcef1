/** Which earlier checkpoints one cannot do without: known to those who write them, asked by those who remove some. */
import { isObject, type JsonObject } from '../kernel/json.ts';
import { isTurnOpen, parseBody } from './function/checkpoint-body.ts';

export interface CheckpointTraits {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly body: string;
  readonly metadata: JsonObject;
  /** The channels of the writes on it. */
  readonly written: readonly string[];
}

/** Ids within the same namespace. */
export function deltaBasesOf({
  checkpointId,
  parentId,
  body,
  metadata,
  written,
}: CheckpointTraits): string[] {
  // LangGraph.js: since the last whole copy, such a channel is only what was written on the checkpoints before.
  const counters = metadata['counters_since_delta_snapshot'];
  if (parentId !== null && isObject(counters) && Object.keys(counters).length > 0) return [parentId];
  // A plain function that asked is called again from where its turn began.
  const own = parseBody(body);
  if (own === undefined || !isTurnOpen(written) || own.turn.input === checkpointId) return [];
  return [own.turn.input];
}
