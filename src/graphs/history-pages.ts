/** S3 A thread's history comes in pieces, and what one answer holds of it is bounded: each state may be large. */
import { LARGEST_ANSWER } from '../kernel/json-text.ts';
import type { CheckpointQuery, CheckpointReader, GraphState, LoadedCheckpoint } from './port.ts';

/** Of values, in characters: what one piece holds before no more is added to it. */
const PIECE = 16 * 2 ** 20;

/** Newest first. Within a namespace the next piece is asked for when those before it are done with. */
export async function* listInPieces(
  checkpoints: CheckpointReader,
  { limit, ...query }: CheckpointQuery,
): AsyncGenerator<LoadedCheckpoint> {
  let left = limit ?? Infinity;
  let { before } = query;
  for (;;) {
    const piece = await checkpoints.list({
      ...query,
      ...(before !== undefined && { before }),
      ...(limit !== undefined && { limit: left }),
      ...(query.ns !== undefined && { most: PIECE }),
    });
    yield* piece;
    left -= piece.length;
    // Less than asked for, and not for its size: there is no more.
    if (left <= 0 || query.ns === undefined || sizeOf(piece) < PIECE) return;
    before = piece.at(-1)!.checkpointId;
  }
}

const sizeOf = (piece: readonly LoadedCheckpoint[]): number =>
  piece.reduce((sum, { blobs }) => blobs.reduce((size, { data }) => size + data.length, sum), 0);

/** Gathers states; false when there is no room for this one. */
export function openAnswer(largest = LARGEST_ANSWER): {
  states: GraphState[];
  add(state: GraphState): boolean;
} {
  const states: GraphState[] = [];
  let size = 0;
  return {
    states,
    add(state) {
      size += weightOf(state);
      if (size > largest) return false;
      states.push(state);
      return true;
    },
  };
}

const weightOf = ({ values, tasks }: GraphState): number =>
  tasks.reduce((sum, { state }) => sum + (state === null ? 0 : weightOf(state)), values.text.length);
