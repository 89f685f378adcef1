/**
 * Suspects of the server's deaths start one at a time, so that the next death has one possible cause (X6). The next one
 * starts when the one before has saved a step, has ended, or has lived through its trial.
 */
import type { Clock } from '../kernel/clock.ts';

export interface Trial {
  /** No suspect is on trial. */
  readonly isFree: boolean;
  /** `ms`: how long the trial takes from the moment its graph code begins. */
  enter(runId: string, ms: number): void;
  /** Graph code of the run begins. */
  begun(runId: string): void;
  /** The run has saved a step, or its attempt has ended. */
  leave(runId: string): void;
  close(): void;
}

/** A suspect whose graph code does not begin keeps the others waiting for as long; a worker may have to start first. */
const MAX_START_MS = 60_000;

/** `onFree` is called when a trial is over. */
export function openTrial(clock: Clock, onFree: () => void): Trial {
  let tried: { readonly runId: string; readonly ms: number } | undefined;
  let cancel: () => void = () => undefined;

  function leave(runId: string): void {
    if (tried?.runId !== runId) return;
    cancel();
    tried = undefined;
    onFree();
  }

  function wait(runId: string, ms: number): void {
    cancel();
    cancel = clock.after(ms, () => leave(runId));
  }

  return {
    get isFree() {
      return tried === undefined;
    },
    enter(runId, ms) {
      tried = { runId, ms };
      wait(runId, MAX_START_MS);
    },
    begun(runId) {
      if (tried?.runId === runId) wait(runId, tried.ms);
    },
    leave,
    close: () => cancel(),
  };
}
