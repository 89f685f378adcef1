/**
 * Counts the frames up to the end of each step, for the root checkpoint of that step. The runtime puts a checkpoint before
 * it streams the step's state, and starts the next step while the checkpoint is being saved.
 */
import type { FrameSink } from '../frame-sink.ts';
import type { RunOrder } from '../port.ts';

export interface StepEnds {
  /** Call after the frames of a root state are pushed. */
  shown(): void;
  /** Call when a checkpoint is put. The returned function gives the frame count; call it when the checkpoint is sent. */
  open(): () => number;
}

export function openStepEnds({ durability, streamModes }: RunOrder, frames: FrameSink): StepEnds {
  // The current count is exact if the runtime waits for each save, and the best available if it streams no states.
  const isNow = durability === 'sync' || !streamModes.includes('values');
  /** The newest step. A step without a state frame ends at the count of the moment when its checkpoint was put. */
  let latest: { count: number; isOpen: boolean } | undefined;
  return {
    shown() {
      if (latest?.isOpen !== true) return;
      latest.count = frames.made;
      latest.isOpen = false;
    },
    open() {
      const end = (latest = { count: frames.made, isOpen: true });
      return () => (isNow ? frames.made : end.count);
    },
  };
}
