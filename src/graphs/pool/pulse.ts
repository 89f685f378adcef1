/** Whether the event loop of a worker turns, read from memory that both threads share: asking would need its loop. */
import type { Clock } from '../../kernel/clock.ts';
import { BEATS, PULSE_BYTES } from './sides.ts';

export interface Pulse {
  /** For the worker. */
  readonly shared: SharedArrayBuffer;
  /** The worker has only now begun to turn. */
  begin(): void;
  /** Reads what is there; called all the time. */
  look(): void;
  /** It has not turned for a while. */
  isSilent(): boolean;
  /** For how long it has not, in milliseconds. */
  silence(): number;
  /** The worker was given something to read, over which its loop may stand still for so many milliseconds. */
  give(ms: number): void;
  /** For how long it has not turned beyond that, in milliseconds. */
  stillness(): number;
  /** It is silent, and not because of what it was given to read. */
  standsStill(): boolean;
}

/** Several beats of a worker: a loaded machine skips some. */
const SILENT_MS = 500;
/** Nobody may be given so much that nothing is expected of him for longer than this. */
const MOST_READING_MS = 10_000;

export function openPulse(clock: Clock): Pulse {
  const shared = new SharedArrayBuffer(PULSE_BYTES);
  const numbers = new Int32Array(shared);
  let last = { beat: 0, at: clock.monotonic(), looked: clock.monotonic() };
  /** Until when it may be reading. */
  let reading = 0;
  const silence = (): number => last.looked - last.at;
  const stillness = (): number => Math.max(0, last.looked - Math.max(last.at, reading));
  return {
    shared,
    begin() {
      last = { ...last, at: clock.monotonic() };
    },
    look() {
      const now = clock.monotonic();
      const beat = Atomics.load(numbers, BEATS);
      // A process that itself stood still knows nothing of the others.
      if (beat !== last.beat || now - last.looked > SILENT_MS) last = { beat, at: now, looked: now };
      else last.looked = now;
    },
    isSilent: () => silence() > SILENT_MS,
    silence,
    give(ms) {
      const now = clock.monotonic();
      reading = Math.min(Math.max(reading, now) + ms, now + MOST_READING_MS);
    },
    stillness,
    standsStill: () => stillness() > SILENT_MS,
  };
}
