/**
 * Node ends the whole process when a thread is told to end in the few milliseconds in which `require` links a module
 * that is written with `import` and `export` ("IsGraphAsync must be used on an instantiated module", Node 20 and 22).
 * So threads link behind a gate that whoever ends them closes first: nobody enters from then on, and when none is left
 * inside, it is closed, and stays so.
 */
import type { Clock } from './clock.ts';
import { ownScript } from './own-modules.ts';

export interface LinkGate {
  /** For the threads: how many are inside, and `CLOSED` besides once nobody may enter. */
  readonly inside: Int32Array;
  /**
   * Resolves when the gate is closed, and at the latest after `limitMs`: graph code may have a hand on it. Closed again
   * it resolves as well.
   */
  close(clock: Clock, limitMs: number): Promise<void>;
}

/**
 * The environment data by which threads, and the threads that they start, find the gates that they link behind, as a
 * list; as in link-gate.cjs.
 */
export const LINK_GATE = 'link gate';

/** The first thing a thread loads that is to link behind its gate, and the option of Node without which it cannot. */
export const LINK_GATE_SCRIPT = ownScript('kernel/link-gate');
export const LINK_GATE_OPTION = '--experimental-vm-modules';

/** Far below what those inside can make up for. */
const CLOSED = -(2 ** 30);
const LOOK_MS = 1;

export function openLinkGate(): LinkGate {
  const inside = new Int32Array(new SharedArrayBuffer(4));
  return {
    inside,
    close: (clock, limitMs) =>
      new Promise((resolve) => {
        const limit = clock.monotonic() + limitMs;
        const look = (): void => {
          const found = Atomics.load(inside, 0);
          if (found >= 0) Atomics.add(inside, 0, CLOSED);
          if (Atomics.load(inside, 0) === CLOSED || clock.monotonic() > limit) resolve();
          else clock.after(LOOK_MS, look);
        };
        look();
      }),
  };
}
