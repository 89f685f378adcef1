/** S3 Reads a thread's history in chunks and bounds the size of one response, because each state may be large. */
import { MAX_RESPONSE_CHARS } from '../kernel/json-text.ts';
import type { CheckpointQuery, CheckpointReader, GraphState, LoadedCheckpoint } from './port.ts';

/** Size of the values at which a chunk ends. */
const CHUNK_UTF16_UNITS = 16 * 2 ** 20;

/** Yields checkpoints, newest first. With `ns` it reads one chunk at a time, otherwise all at once. */
export async function* listInPieces(
  checkpoints: CheckpointReader,
  { limit, ...query }: CheckpointQuery,
): AsyncGenerator<LoadedCheckpoint> {
  let remaining = limit ?? Infinity;
  let { before } = query;
  for (;;) {
    const chunk = await checkpoints.list({
      ...query,
      ...(before !== undefined && { before }),
      ...(limit !== undefined && { limit: remaining }),
      ...(query.ns !== undefined && { maxChars: CHUNK_UTF16_UNITS }),
    });
    yield* chunk;
    remaining -= chunk.length;
    // A chunk below the size limit has everything that was remaining.
    if (remaining <= 0 || query.ns === undefined || sizeOf(chunk) < CHUNK_UTF16_UNITS) return;
    before = chunk.at(-1)!.checkpointId;
  }
}

const sizeOf = (chunk: readonly LoadedCheckpoint[]): number =>
  chunk.reduce((sum, { blobs }) => blobs.reduce((size, { data }) => size + data.length, sum), 0);

/** Collects states up to a total size in UTF-16 units; `add` returns false when the state does not fit. */
export function collectStates(maxChars = MAX_RESPONSE_CHARS): {
  states: GraphState[];
  add(state: GraphState): boolean;
} {
  const states: GraphState[] = [];
  let size = 0;
  return {
    states,
    add(state) {
      size += weightOf(state);
      if (size > maxChars) return false;
      states.push(state);
      return true;
    },
  };
}

const weightOf = ({ values, tasks }: GraphState): number =>
  tasks.reduce((sum, { state }) => sum + (state === null ? 0 : weightOf(state)), values.text.length);
