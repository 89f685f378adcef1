/** Buffers the frames pushed to one reader of a run. S3 The buffer is bounded: on overflow the reader reads the log. */
import type { StoredFrame } from '../store/port/payloads.ts';

const MAX_BUFFERED_FRAMES = 500;
/** Counts the frames' data, in UTF-16 code units. */
const MAX_BUFFERED_UNITS = 65_536;

export interface Subscriber {
  /**
   * Removes and returns the frames pushed since the last call. Undefined when the log may hold more frames. Call it
   * before reading the log, or a frame committed in between is missed.
   */
  take(): StoredFrame[] | undefined;
  /** True when `take` has something new to return. */
  isAwake(): boolean;
  /** Settles when `isAwake()` becomes true. */
  readonly woken: Promise<void>;
  push(frames: readonly StoredFrame[]): void;
  /** No frame follows those that were pushed. */
  end(): void;
  /** True when the run has ended and all that was pushed is taken. */
  isOver(): boolean;
  /** Drops the buffer and makes the reader read the log. */
  wake(): void;
  close(): void;
}

export function createSubscriber(close: () => void): Subscriber {
  let buffer: StoredFrame[] = [];
  let units = 0;
  let isComplete = false;
  let hasEnded = false;
  let resolveWoken: () => void = () => undefined;
  let woken: Promise<void> | undefined;
  let awake = true;

  const becomeAwake = (): void => {
    awake = true;
    resolveWoken();
  };
  const clear = (): void => {
    buffer = [];
    units = 0;
  };

  return {
    take() {
      const frames = isComplete ? buffer : undefined;
      clear();
      isComplete = true;
      awake = false;
      woken = undefined;
      return frames;
    },
    isAwake: () => awake,
    get woken() {
      woken ??= awake ? Promise.resolve() : new Promise((resolve) => (resolveWoken = resolve));
      return woken;
    },
    push(frames) {
      if (isComplete) {
        for (const frame of frames) {
          buffer.push(frame);
          units += frame.data.length;
        }
        if (buffer.length > MAX_BUFFERED_FRAMES || units > MAX_BUFFERED_UNITS) {
          isComplete = false;
          clear();
        }
      }
      becomeAwake();
    },
    end() {
      hasEnded = true;
      becomeAwake();
    },
    isOver: () => hasEnded && isComplete && buffer.length === 0,
    wake() {
      isComplete = false;
      clear();
      becomeAwake();
    },
    close,
  };
}
