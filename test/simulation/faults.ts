/** What can go wrong, how often in this life, and whether it did: a fault that never happens tests nothing. */
import type { Random } from '../support/random.ts';

/** Every fault that the simulation can make happen. Over many lives each has to happen. */
export const FAULTS = [
  'crash between two steps',
  'crash before a commit',
  'crash after a commit, before its answer',
  'crash while starting',
  'unknown outcome, written',
  'unknown outcome, not written',
  'commits share a transaction',
  'answer of a commit late',
  'notice lost',
  'notice late',
  'notice repeated',
  'read of the past',
  'read late',
  'graceful stop',
  'long time down',
  'clock set forward',
  'clock set back',
  'write of a dead process',
  'node frozen',
  'node cut off',
  'renewals lost',
  'write after the end of the attempt',
  'worker lost',
  'graph ignores its signal',
  'graph never ends',
  'graph fails',
  'graph asks',
  'graph kills the server',
  'receiver answers 500',
  'receiver refuses',
  'receiver never answers',
  'receiver gone after it accepted',
  'receiver never recovers',
  'reader disconnects',
  'command repeated',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Those of servers that share a store. */
export const FAULTS_OF_NODES: ReadonlySet<Fault> = new Set(['node frozen', 'node cut off', 'renewals lost']);

export interface Faults {
  /** Whether this happens now; counted when it does. */
  happens(fault: Fault): boolean;
  count(fault: Fault): void;
  readonly counts: ReadonlyMap<Fault, number>;
  /** From now on nothing goes wrong any more. */
  end(): void;
  readonly over: boolean;
  /** How likely each is, for the print of a failure. */
  readonly rates: Readonly<Partial<Record<Fault, number>>>;
}

/** Most likely rates; a life takes a part of each, and leaves some out. */
const HIGHEST: Partial<Record<Fault, number>> = {
  'crash between two steps': 0.006,
  'crash before a commit': 0.02,
  'crash after a commit, before its answer': 0.02,
  'crash while starting': 0.3,
  'unknown outcome, written': 0.015,
  'unknown outcome, not written': 0.015,
  'answer of a commit late': 0.4,
  'notice lost': 0.3,
  'notice late': 0.5,
  'notice repeated': 0.2,
  'read of the past': 0.3,
  'read late': 0.3,
  'long time down': 0.2,
  'clock set forward': 0.08,
  'clock set back': 0.08,
  'write of a dead process': 0.5,
  'worker lost': 0.3,
  'node frozen': 0.004,
  'renewals lost': 0.1,
};

/** Of several servers none ends for an unknown outcome, so it may come more often. */
const SHARED: Partial<Record<Fault, number>> = {
  'unknown outcome, written': 0.06,
  'unknown outcome, not written': 0.03,
};

export function createFaults(random: Random, isShared: boolean): Faults {
  const rates: Partial<Record<Fault, number>> = {};
  for (const fault of FAULTS) {
    const highest = (isShared ? SHARED[fault] : undefined) ?? HIGHEST[fault];
    if (highest !== undefined) rates[fault] = random.chance(0.3) ? 0 : highest * random.pick([0.3, 0.6, 1]);
  }
  const counts = new Map<Fault, number>();
  let over = false;
  const faults: Faults = {
    happens(fault) {
      const happens = !over && random.chance(rates[fault] ?? 0);
      if (happens) faults.count(fault);
      return happens;
    },
    count: (fault) => void counts.set(fault, (counts.get(fault) ?? 0) + 1),
    counts,
    end: () => void (over = true),
    get over() {
      return over;
    },
    rates,
  };
  return faults;
}
