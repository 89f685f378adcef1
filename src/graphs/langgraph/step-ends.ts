/**
 * How many frames had been made when a checkpoint of the root graph was put: those up to the end of its step. The runtime
 * puts a checkpoint before it shows the state of the step, and goes on with the next step while the checkpoint is saved.
 */
import type { FrameSink } from '../frame-sink.ts';
import type { RunOrder } from '../port.ts';

export interface StepEnds {
  /** The frames of a state of the root graph have been made. */
  shown(): void;
  /** A checkpoint is put; the returned function answers when it is saved. */
  open(): () => number;
}

export function openStepEnds({ durability, streamModes }: RunOrder, frames: FrameSink): StepEnds {
  // The runtime waits for the disk before it goes on, or shows no states.
  const isNow = durability === 'sync' || !streamModes.includes('values');
  /** A step that shows no state, as its input, ends with the frames that were made when its checkpoint was put. */
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
