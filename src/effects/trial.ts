/**
 * Starts suspects of server deaths one at a time, so that the next death has one possible cause (X6). The next suspect
 * starts when the previous one has saved a step, has ended, or its trial time is over.
 */
import type { Clock } from '../kernel/clock.ts';

export interface Trial {
  /** No suspect is on trial. */
  readonly isFree: boolean;
  /** `ms`: duration of the trial from the moment graph code begins. */
  enter(runId: string, ms: number): void;
  begun(runId: string): void;
  /** Ends the trial: the run has saved a step, or its attempt has ended. */
  leave(runId: string): void;
  close(): void;
}

/** Longest wait for graph code to begin; a worker may have to start first. */
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
