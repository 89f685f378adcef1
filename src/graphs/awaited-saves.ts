/** A checkpoint store whose writes graph code waits for: they settle in their turn among the arrivals of a recorded run. */
import { inTurn } from '../recording/open-work.ts';
import type { AttemptStore } from './attempt.ts';

export const awaitedSaves = (store: AttemptStore): AttemptStore => ({
  ...store,
  save: (checkpoint, made) => inTurn('save', () => store.save(checkpoint, made)),
  saveWrites: (ns, id, writes) => inTurn('writes', () => store.saveWrites(ns, id, writes)),
});
