/**
 * Reads a part of a state by loading only the channels that it needs. The runtime applies pending writes to channels, so
 * writes to channels that are not loaded are hidden from it.
 */
import type { CompiledGraph } from '../graph-shapes.ts';
import type { CheckpointReader, LoadedCheckpoint, StateOrder } from '../port.ts';
import type { ChannelChoice } from '../state-part.ts';
import { SENDS } from '../state-port.ts';
import { deltaChannels } from './binding.ts';
import type { Saver } from './saver-contract.ts';

/** The runtime's channel for a task without writes. */
const NO_WRITES = '__no_writes__';

/** The channels to load; undefined if all are needed. */
export function toChoice(graph: CompiledGraph, { part, ns = '' }: StateOrder): ChannelChoice | undefined {
  if (part === undefined || typeof graph.streamChannelsAsIs === 'string') return undefined;
  if (!part.next && !part.tasks) return { names: part.keys, written: false };
  // The subgraph object is not available here, so the channels that start its nodes are unknown.
  if (ns !== '') return undefined;
  // Task results are applied to delta channels, whose values need earlier checkpoints.
  if (part.tasks && deltaChannels(graph).length > 0) return undefined;
  return { names: [...part.keys, ...startingChannels(graph)], written: part.tasks };
}

/** The channels whose presence decides which nodes are still to run. */
const startingChannels = ({ nodes }: CompiledGraph): string[] => [
  SENDS,
  ...Object.values(nodes).flatMap(({ triggers = [], channels }) => [
    ...triggers,
    ...(Array.isArray(channels) ? (channels as string[]) : []),
  ]),
];

/** A reader that loads only the chosen channels of `ns`; other namespaces are loaded completely. */
export function readPart(checkpoints: CheckpointReader, ns: string, choice: ChannelChoice): CheckpointReader {
  const trim = (loaded: LoadedCheckpoint): LoadedCheckpoint =>
    loaded.ns !== ns || choice.written ? loaded : { ...loaded, writes: writesOf(loaded, choice) };
  return {
    async load(asked, checkpointId) {
      const loaded = await checkpoints.load(asked, checkpointId, asked === ns ? choice : undefined);
      return loaded && trim(loaded);
    },
    list: async (query) => (await checkpoints.list(query.ns === ns ? { ...query, choice } : query)).map(trim),
  };
}

function writesOf({ writes, valueChannels }: LoadedCheckpoint, { names }: ChannelChoice) {
  const left = new Set(valueChannels);
  for (const name of names) left.delete(name);
  return writes.map((write) =>
    left.has(write.channel) ? { ...write, channel: NO_WRITES, data: 'null' } : write,
  );
}

/** A saver that returns an empty history for delta channels that are not loaded. */
export const withoutHistory = (saver: Saver, ns: string, { names }: ChannelChoice): Saver => ({
  ...saver,
  async getDeltaChannelHistory({ config, channels }) {
    if ((config.configurable?.checkpoint_ns ?? '') !== ns)
      return saver.getDeltaChannelHistory({ config, channels });
    const read = channels.filter((channel) => names.includes(channel));
    return {
      ...Object.fromEntries(channels.map((channel) => [channel, { writes: [] }])),
      ...(await saver.getDeltaChannelHistory({ config, channels: read })),
    };
  },
});
