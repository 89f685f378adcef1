/** Repeatable randomness for tests: the same seed gives the same numbers on every machine. */
export interface Random {
  /** An integer, both ends included. */
  int(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean;
  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
  bytes(length: number): Uint8Array;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state are plenty for a test and fit in a printed seed.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    pick(items) {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[int(0, items.length - 1)]!;
    },
    chance: (probability) => next() < probability,
    shuffle(items) {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(0, i);
        [copy[i], copy[j]] = [copy[j]!, copy[i]!];
      }
      return copy;
    },
    bytes: (length) => Uint8Array.from({ length }, () => int(0, 255)),
  };
}

/**
 * The seed of a random test: `SEED=n`, or `SEED=random` for a fresh one. Without it each run draws the same cases, so that
 * nothing but a change makes a test fail. The seed is printed.
 */
export function seedFromEnv(): number {
  const given = process.env['SEED'] ?? '1';
  const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!Number.isInteger(seed)) throw new Error(`SEED must be an integer or "random", not "${given}"`);
  console.log(`SEED=${seed}`);
  return seed;
}
