/**
 * Checkpoints, writes and states as a head and blobs: texts that may be large become blobs, and their place in the head
 * is the number of the blob.
 */
import type { GraphState, LoadedCheckpoint, NewCheckpoint, PendingWrite } from '../graphs/port.ts';
import type { Saved, Updated } from '../graphs/state-port.ts';
import { JsonText } from '../kernel/json-text.ts';

/** Collects the blobs of one message. */
export interface Blobs {
  readonly list: string[];
  add(text: string): number;
}

export function collectBlobs(): Blobs {
  const list: string[] = [];
  return { list, add: (text) => list.push(text) - 1 };
}

type Texts = readonly string[];

/** `{…, data}` with the text as a blob. */
const packData = <T extends { readonly data: string }>(values: readonly T[], blobs: Blobs): object[] =>
  values.map((value) => ({ ...value, data: blobs.add(value.data) }));
const unpackData = <T extends { readonly data: string }>(values: readonly any[], texts: Texts): T[] =>
  values.map((value) => ({ ...value, data: texts[value.data] }) as T);

export const packWrites = (writes: readonly PendingWrite[], blobs: Blobs): object[] =>
  packData(writes, blobs);
export const unpackWrites = (writes: readonly any[], texts: Texts): PendingWrite[] =>
  unpackData(writes, texts);

export const packCheckpoint = (checkpoint: NewCheckpoint, blobs: Blobs): object => ({
  ...checkpoint,
  body: blobs.add(checkpoint.body),
  blobs: packData(checkpoint.blobs, blobs),
});
export const unpackCheckpoint = (packed: any, texts: Texts): NewCheckpoint => ({
  ...packed,
  body: texts[packed.body],
  blobs: unpackData(packed.blobs, texts),
});

/** Null stands for no checkpoint. */
export const packLoaded = (loaded: LoadedCheckpoint | undefined, blobs: Blobs): object | null =>
  loaded === undefined
    ? null
    : {
        ...loaded,
        body: blobs.add(loaded.body),
        blobs: packData(loaded.blobs, blobs),
        writes: packWrites(loaded.writes, blobs),
      };
export const unpackLoaded = (packed: any, texts: Texts): LoadedCheckpoint | undefined =>
  packed === null
    ? undefined
    : {
        ...packed,
        body: texts[packed.body],
        blobs: unpackData(packed.blobs, texts),
        writes: unpackWrites(packed.writes, texts),
      };

/** The same state with its values, and those of the states within it, in another form. */
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
