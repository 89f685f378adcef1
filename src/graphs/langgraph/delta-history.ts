import type { CheckpointTuple, DeltaHistory, Saver, SaverConfig } from './saver-contract.ts';

/** Walks the parents of the checkpoint that `config` names, once for all channels. */
export async function readDeltaHistory(
  saver: Pick<Saver, 'getTuple'>,
  config: SaverConfig,
  channels: readonly string[],
): Promise<DeltaHistory> {
  const history: DeltaHistory = Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]));
  const open = new Set(channels);
  let next: SaverConfig | undefined =
    open.size === 0 ? undefined : (await saver.getTuple(config))?.parentConfig;
  while (next !== undefined && open.size > 0) {
    const tuple: CheckpointTuple | undefined = await saver.getTuple(next);
    if (tuple === undefined) break;
    for (const channel of open) {
      const entry = history[channel] ?? { writes: [] };
      entry.writes.unshift(...tuple.pendingWrites.filter((write) => write[1] === channel));
      if (Object.hasOwn(tuple.checkpoint.channel_values, channel)) {
        entry.seed = tuple.checkpoint.channel_values[channel];
        open.delete(channel);
      }
    }
    next = tuple.parentConfig;
  }
  return history;
}

/** The runtime marks a full copy of an append-only channel by a class; the bare value means the same to it. */
export const unwrapSnapshot = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'lg_name' in value && value.lg_name === 'DeltaSnapshot'
    ? (value as unknown as { value: unknown }).value
    : value;
