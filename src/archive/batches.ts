/** Joins the writes of a file's records into batches of bounded size. */
import type { PayloadWrite } from '../store/port/payloads.ts';

/** Maximum cost of a batch; its commit takes about 20 ms of the event loop. */
const MAX_COST = 1024 * 1024;
/** Cost of a unit that repeats an earlier text, relative to a new one: it is compared but not written. */
const COMPARED = 1 / 8;

/** `bytes`: size of the part that repeats no earlier text. */
export const costOf = (content: string | Uint8Array, bytes: number): number =>
  bytes + content.length * COMPARED;

export interface PayloadBatches {
  /** Returns a batch that is full, and goes on with the next one. Undefined: something else costs as much. */
  add(write: PayloadWrite | undefined, cost: number): readonly PayloadWrite[] | undefined;
  /** The rest. */
  take(): readonly PayloadWrite[];
}

export function openBatches(): PayloadBatches {
  let batch: PayloadWrite[] = [];
  let cost = 0;
  const take = (): PayloadWrite[] => {
    const full = batch;
    [batch, cost] = [[], 0];
    return full;
  };
  return {
    add(write, added) {
      const last = batch.at(-1);
      const both = last && write && joined(last, write);
      if (both !== undefined) batch[batch.length - 1] = both;
      else if (write !== undefined) batch.push(write);
      cost += added;
      return cost < MAX_COST ? undefined : take();
    },
    take,
  };
}

/**
 * One write that does what two in a row do. Values that come with their checkpoint are stored once with what tasks wrote
 * before (P3), which values by themselves are not.
 */
function joined(first: PayloadWrite, second: PayloadWrite): PayloadWrite | undefined {
  if (first.kind === 'channel-values') {
    if (second.kind === 'channel-values' && first.runId === second.runId && first.ns === second.ns)
      return { ...first, values: [...first.values, ...second.values] };
    if (second.kind !== 'checkpoint' || first.runId !== second.runId) return undefined;
    const { checkpoint } = second;
    if (first.ns !== checkpoint.ns) return undefined;
    return { ...second, checkpoint: { ...checkpoint, blobs: first.values } };
  }
  return undefined;
}
