/** The beginning of a re-execution: its checkpoint, its state and its order. */
import { orderOf } from '../../graphs/run-order.ts';
import type { RunOrder } from '../../graphs/port.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { Player } from '../../recording/player.ts';
import { WrongOption } from './wrong-option.ts';
import { traceBehind, type RunData } from './run-data.ts';

interface StartOptions {
  readonly from?: string | undefined;
  readonly set: JsonObject;
}

export interface Start {
  readonly data: RunData;
  readonly resume: boolean;
}

/** Returns the beginning of the re-execution. With `--from` only what follows the checkpoint is compared. */
export async function startOf(data: RunData, { from, set }: StartOptions): Promise<Start> {
  const edits = isObject(data.run.kwargs.input) && from === undefined ? {} : set;
  if (from === undefined) return { data: await withState(data, edits), resume: data.resume };
  const rest = { ...data, base: from, trace: traceBehind(data.trace, from), parts: [] };
  return { data: await withState(rest, edits), resume: true };
}

/** Replaces channels of the checkpoint that the run starts from. Throws for channels that it does not have. */
async function withState(data: RunData, edits: JsonObject): Promise<RunData> {
  const names = Object.keys(edits);
  if (names.length === 0) return data;
  const start = data.base === null ? undefined : await data.before('', data.base);
  const channels = start?.blobs.map(({ channel }) => channel) ?? [];
  const unknown = names.find((name) => !channels.includes(name));
  if (unknown !== undefined)
    throw new WrongOption(
      `--set: expected one of ${channels.join(', ') || 'no members'} of the state, found "${unknown}"`,
    );
  return {
    ...data,
    async before(ns, checkpointId) {
      const stored = await data.before(ns, checkpointId);
      if (stored === undefined || ns !== '' || stored.checkpointId !== data.base) return stored;
      const blobs = stored.blobs.map((blob) =>
        Object.hasOwn(edits, blob.channel) ? { ...blob, data: JSON.stringify(edits[blob.channel]) } : blob,
      );
      return { ...stored, blobs };
    },
  };
}

export function toOrder(
  { run }: RunData,
  { start }: Player,
  { resume }: Start,
  { set }: StartOptions,
): RunOrder {
  const { input } = run.kwargs;
  const edited = isObject(input) && !resume ? { ...input, ...set } : input;
  // A4 Secrets read as they stand in recorded requests.
  const { inherited = {}, ...secrets } = start?.secrets ?? {};
  const order = orderOf(run, resume, edited, {
    ...secrets,
    ...(Object.keys(inherited).length > 0 && { inherited }),
  });
  return {
    ...{ ...order, ...(start?.observed && { observe: true }) },
    ...(start?.noted !== true && { isUnnoted: true }),
  };
}
