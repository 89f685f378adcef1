/** Seeded random numbers (sfc32): equal for equal seeds, on every machine. Not for secrets of the server. */
import { createHash } from 'node:crypto';

export interface Random {
  /** At least 0 and below 1, with 53 random bits. */
  float(): number;
  fill(bytes: Uint8Array): void;
}

export function seededRandom(seed: string): Random {
  const digest = createHash('sha256').update(seed, 'utf8').digest();
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as [number, number, number, number];
  const next = (): number => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  return {
    float: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    fill(bytes) {
      for (let at = 0; at < bytes.length; at++) bytes[at] = next() & 0xff;
    },
  };
}

/** Larger draws fill pools; they have streams of their own, so that a pool shifts no value. */
const MAX_SMALL_BYTES = 64;

/**
 * Returns the random source of a task's function, which goes on where its last draw left it. A later attempt repeats the
 * draws of tasks, but not those outside of tasks: an earlier attempt may have saved what those made.
 */
export function openRandoms(
  seed: string,
): (task: string, attempt: number, api: string, bytes: number) => Random {
  const known = new Map<string, Random>();
  return (task, attempt, api, bytes) => {
    const place = task === '' ? `attempt ${attempt}` : task;
    const key = `${api}${bytes > MAX_SMALL_BYTES ? ' large' : ''} ${place}`;
    let random = known.get(key);
    if (random === undefined) known.set(key, (random = seededRandom(`${seed} ${key}`)));
    return random;
  };
}
