/** Reads the history of LangGraph's delta channels, whose values are spread over ancestor checkpoints. */
import type { CheckpointTuple, DeltaHistory, Saver, SaverConfig } from './saver-contract.ts';

/** Walks the ancestors of the checkpoint in `config`, once for all channels. */
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

/** Unwraps the runtime's `DeltaSnapshot`, the full value of a delta channel; the runtime accepts the bare value too. */
export const unwrapSnapshot = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'lg_name' in value && value.lg_name === 'DeltaSnapshot'
    ? (value as unknown as { value: unknown }).value
    : value;
