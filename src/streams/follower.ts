/**
 * What one reader of a run is told of it while it reads. S3 It holds as much as one page: who takes too little of it
 * is sent to the log again.
 */
import type { StoredFrame } from '../log/payloads.ts';

/** In frames, and in UTF-16 units of their data. */
const MOST_FRAMES = 500;
const LARGEST = 65_536;

export interface Follower {
  /**
   * The frames that were told since the last call, in order; undefined when there may be more to know than these. The
   * log has it all, and a call before it is read makes sure that nothing falls between.
   */
  take(): StoredFrame[] | undefined;
  /** There is something to take. */
  isAwake(): boolean;
  /** Settles when it is awake. */
  readonly woken: Promise<void>;
  tell(frames: readonly StoredFrame[]): void;
  /** There may be something that is no frame: an end. */
  rouse(): void;
  close(): void;
}

export function createFollower(close: () => void): Follower {
  let told: StoredFrame[] = [];
  let size = 0;
  let complete = false;
  let wake: () => void = () => undefined;
  let woken: Promise<void> | undefined;
  let awake = true;

  const rouse = (): void => {
    awake = true;
    wake();
  };
  const forget = (): void => {
    told = [];
    size = 0;
  };

  return {
    take() {
      const frames = complete ? told : undefined;
      forget();
      complete = true;
      awake = false;
      woken = undefined;
      return frames;
    },
    isAwake: () => awake,
    get woken() {
      woken ??= awake ? Promise.resolve() : new Promise((resolve) => (wake = resolve));
      return woken;
    },
    tell(frames) {
      if (complete) {
        for (const frame of frames) {
          told.push(frame);
          size += frame.data.length;
        }
        if (told.length > MOST_FRAMES || size > LARGEST) {
          complete = false;
          forget();
        }
      }
      rouse();
    },
    rouse() {
      complete = false;
      forget();
      rouse();
    },
    close,
  };
}
