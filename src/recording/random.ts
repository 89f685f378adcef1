/**
 * Random numbers from a seed: equal for equal seeds, on every machine. They are blocks of a hash of seed and count, so that the
 * next ones do not follow from earlier ones without the seed.
 */
import { createHash, hash } from 'node:crypto';

export interface Random {
  /** At least 0 and below 1, with 53 random bits. */
  float(): number;
  fill(bytes: Uint8Array): void;
}

/** Most streams draw once; blocks of those that go on become longer, since a hash costs more than its bytes. */
const MIN_BLOCK_BYTES = 64;
const MAX_BLOCK_BYTES = 1_024;

const digestAtOnce = (text: string, outputLength: number): Buffer =>
  hash('shake256', text, { outputEncoding: 'buffer', outputLength });
const digestByObject = (text: string, outputLength: number): Buffer =>
  createHash('shake256', { outputLength }).update(text).digest();

/** Node has the option since 24.4. Objects of hashes cost more: the garbage collector has to free them. */
const digestOf = ((): typeof digestAtOnce => {
  try {
    return digestAtOnce('', MIN_BLOCK_BYTES).length === MIN_BLOCK_BYTES ? digestAtOnce : digestByObject;
  } catch {
    return digestByObject;
  }
})();

export function seededRandom(seed: string): Random {
  let block: Uint8Array = new Uint8Array();
  let used = 0;
  let count = 0;
  const drawn = Buffer.alloc(8);
  function fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (used === block.length) {
        const outputLength = Math.min(MIN_BLOCK_BYTES * 2 ** count, MAX_BLOCK_BYTES);
        block = digestOf(`${seed} ${count++}`, outputLength);
        used = 0;
      }
      const part = block.subarray(used, used + bytes.length - at);
      bytes.set(part, at);
      at += part.length;
      used += part.length;
    }
  }
  return {
    float() {
      fill(drawn);
      return ((drawn.readUInt32LE(0) >>> 5) * 2 ** 26 + (drawn.readUInt32LE(4) >>> 6)) / 2 ** 53;
    },
    fill,
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
  const known = {
    small: new Map<string, Map<string, Random>>(),
    large: new Map<string, Map<string, Random>>(),
  };
  return (task, attempt, api, bytes) => {
    const isLarge = bytes > MAX_SMALL_BYTES;
    const byTask = isLarge ? known.large : known.small;
    let own = byTask.get(task);
    if (own === undefined) byTask.set(task, (own = new Map()));
    let random = own.get(api);
    if (random === undefined) {
      const place = task === '' ? `attempt ${attempt}` : task;
      own.set(api, (random = seededRandom(`${seed} ${api}${isLarge ? ' large' : ''} ${place}`)));
    }
    return random;
  };
}
