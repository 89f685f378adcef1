/**
 * One reader of a run and the frames that were pushed to it. S3 It buffers one page at most: a slow reader reads the rest
 * from the log.
 */
import type { StoredFrame } from '../log/payloads.ts';

const MAX_BUFFERED_FRAMES = 500;
/** Of their data, in UTF-16 code units. */
const MAX_BUFFERED_UNITS = 65_536;

export interface Subscriber {
  /**
   * The frames that were pushed since the last call, in order; undefined when the log may have more than these. Call it
   * before the log is read, so that no frame falls between.
   */
  take(): StoredFrame[] | undefined;
  /** There is something to take. */
  isAwake(): boolean;
  /** Settles when it is awake. */
  readonly woken: Promise<void>;
  push(frames: readonly StoredFrame[]): void;
  /** Sends the reader to the log: there may be something that is no frame, such as an end. */
  wake(): void;
  close(): void;
}

export function createSubscriber(close: () => void): Subscriber {
  let buffer: StoredFrame[] = [];
  let units = 0;
  let isComplete = false;
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
    wake() {
      isComplete = false;
      clear();
      becomeAwake();
    },
    close,
  };
}
