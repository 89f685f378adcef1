/** Payloads of a batch with those in one that one row can hold: frames of a run, and writes of a run on a checkpoint. */
import type { PayloadWrite } from '../port/payloads.ts';

type Mergeable = Extract<PayloadWrite, { kind: 'frames' | 'checkpoint-writes' }>;

/** What erases comes after what was written before it, and before what is written then. */
const WRITES: ReadonlySet<PayloadWrite['kind']> = new Set([
  ...([
    'frames',
    'checkpoint-writes',
    'checkpoint',
    'channel-values',
    'recording',
    'calls',
    'untracked-values',
  ] as const),
  ...(['queue', 'erase-secret', 'resume', 'erase-resume'] as const),
]);

export function mergePayloads(payloads: readonly PayloadWrite[]): readonly PayloadWrite[] {
  const merged: PayloadWrite[] = [];
  const places = new Map<string, number>();
  for (const write of payloads) {
    if (!WRITES.has(write.kind)) places.clear();
    if (write.kind !== 'frames' && write.kind !== 'checkpoint-writes') {
      merged.push(write);
      continue;
    }
    const key = keyOf(write);
    const place = places.get(key);
    const both = place === undefined ? undefined : join(merged[place]!, write);
    if (both === undefined) places.set(key, merged.push(write) - 1);
    else merged[place!] = both;
  }
  return merged;
}

const keyOf = (write: Mergeable): string =>
  write.kind === 'frames'
    ? write.runId
    : JSON.stringify([write.threadId, write.runId, write.ns, write.checkpointId]);

function join(first: PayloadWrite, second: Mergeable): PayloadWrite | undefined {
  if (first.kind === 'checkpoint-writes' && second.kind === 'checkpoint-writes')
    return { ...first, writes: [...first.writes, ...second.writes] };
  if (first.kind !== 'frames' || second.kind !== 'frames') return undefined;
  if (second.first !== first.first + first.frames.length) return undefined;
  if ((first.times === undefined) !== (second.times === undefined)) return undefined;
  return {
    ...first,
    frames: [...first.frames, ...second.frames],
    ...(first.times && { times: [...first.times, ...second.times!] }),
  };
}
