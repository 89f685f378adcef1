/**
 * What may be on the disk when the power fails: of each file, what was there at its last sync, and any part of what
 * was written since, in any order, in sectors.
 */
import type { Random } from '../../support/random.ts';
import { isSync, type Call } from './strace.ts';

const SECTOR = 512;

/** `none` of what was not synced is there, `all` of it (as after a kill), or `some`. */
export type Survivors = 'none' | 'all' | 'some';

export interface Disk {
  /** Does what the call did. */
  apply(call: Call): void;
  /** What is found after a power loss now, by file. */
  image(survivors: Survivors, random: Random): ReadonlyMap<string, Buffer>;
}

/** Empty at first. */
export function openDisk(): Disk {
  const durable = new Map<string, Buffer>();
  const pending = new Map<string, Call[]>();

  return {
    apply(call) {
      if (call.failed) return;
      const waiting = pending.get(call.file) ?? [];
      pending.set(call.file, waiting);
      if (!isSync(call)) waiting.push(call);
      else
        durable.set(call.file, waiting.splice(0).reduce(perform, durable.get(call.file) ?? Buffer.alloc(0)));
    },
    image(survivors, random) {
      const found = new Map(durable);
      for (const [file, waiting] of pending) {
        const kept =
          survivors === 'all'
            ? waiting
            : survivors === 'none'
              ? []
              : waiting.flatMap((call) => (random.chance(0.5) ? torn(call, random) : []));
        found.set(file, kept.reduce(perform, found.get(file) ?? Buffer.alloc(0)));
      }
      return found;
    },
  };
}

/** Half of the writes that survive do so in part. */
function torn(call: Call, random: Random): Call[] {
  if (call.name !== 'pwrite64' || random.chance(0.5)) return [call];
  const parts: Call[] = [];
  for (let from = 0; from < call.data.length;) {
    const to = Math.min(call.data.length, from + SECTOR - ((call.at + from) % SECTOR));
    if (random.chance(0.5)) parts.push({ ...call, at: call.at + from, data: call.data.subarray(from, to) });
    from = to;
  }
  return parts;
}

function perform(before: Buffer, { name, at, data }: Call): Buffer {
  if (name === 'ftruncate') {
    const cut = Buffer.alloc(at);
    before.copy(cut, 0, 0, at);
    return cut;
  }
  const after = Buffer.alloc(Math.max(before.length, at + data.length));
  before.copy(after);
  data.copy(after, at);
  return after;
}
