/** Converts checkpoints, writes and states for a message: large texts become blobs, and the head has the blob's index. */
import type { GraphState, LoadedCheckpoint, NewCheckpoint, PendingWrite } from '../graphs/port.ts';
import type { Saved, Updated } from '../graphs/state-port.ts';
import { JsonText } from '../kernel/json-text.ts';

export interface Blobs {
  readonly list: string[];
  /** Returns the index of the new blob. */
  add(text: string): number;
}

export function collectBlobs(): Blobs {
  const list: string[] = [];
  return { list, add: (text) => list.push(text) - 1 };
}

type Texts = readonly string[];

/** Replaces `data` of each value by a blob index. */
const packData = <T extends { readonly data: string }>(values: readonly T[], blobs: Blobs): object[] =>
  values.map((value) => ({ ...value, data: blobs.add(value.data) }));
const unpackData = <T extends { readonly data: string }>(values: readonly any[], texts: Texts): T[] =>
  values.map((value) => ({ ...value, data: texts[value.data] }) as T);

export const packWrites = packData<PendingWrite>;
export const unpackWrites = unpackData<PendingWrite>;

export const packCheckpoint = (checkpoint: NewCheckpoint | LoadedCheckpoint, blobs: Blobs): object => ({
  ...checkpoint,
  body: blobs.add(checkpoint.body),
  blobs: packData(checkpoint.blobs, blobs),
});
export const unpackCheckpoint = <T = NewCheckpoint>(packed: any, texts: Texts): T => ({
  ...packed,
  body: texts[packed.body],
  blobs: unpackData(packed.blobs, texts),
});

/** Packs a missing checkpoint as null, because JSON has no undefined. */
export const packLoaded = (loaded: LoadedCheckpoint | undefined, blobs: Blobs): object | null =>
  loaded === undefined
    ? null
    : { ...packCheckpoint(loaded, blobs), writes: packWrites(loaded.writes, blobs) };
export const unpackLoaded = (packed: any, texts: Texts): LoadedCheckpoint | undefined =>
  packed === null
    ? undefined
    : { ...unpackCheckpoint<LoadedCheckpoint>(packed, texts), writes: unpackWrites(packed.writes, texts) };

/** Returns a copy of the state in which `to` has converted its values and those of nested states. */
export function withValues<A, B>(state: GraphState<A>, to: (values: A) => B): GraphState<B> {
  const tasks = state.tasks.map((task) => ({ ...task, state: task.state && withValues(task.state, to) }));
  return { ...state, values: to(state.values), tasks };
}
export const packState = (state: GraphState, blobs: Blobs): object =>
  withValues(state, ({ text }) => blobs.add(text));
export const unpackState = (packed: any, texts: Texts): GraphState =>
  withValues(packed as GraphState<number>, (index) => new JsonText(texts[index]!));

export const packUpdated = (updated: Updated, blobs: Blobs): object =>
  updated.kind === 'refused'
    ? updated
    : {
        ...updated,
        saved: updated.saved.map((saved) =>
          saved.kind === 'checkpoint'
            ? { ...saved, checkpoint: packCheckpoint(saved.checkpoint, blobs) }
            : { ...saved, writes: packWrites(saved.writes, blobs) },
        ),
      };
export const unpackUpdated = (packed: any, texts: Texts): Updated =>
  packed.kind === 'refused'
    ? packed
    : {
        ...packed,
        saved: packed.saved.map((saved: any): Saved =>
          saved.kind === 'checkpoint'
            ? { ...saved, checkpoint: unpackCheckpoint(saved.checkpoint, texts) }
            : { ...saved, writes: unpackWrites(saved.writes, texts) },
        ),
      };
