/** Binds a graph to one run's saver. Concurrent runs share the graph object, so the library makes a copy for each run. */
import type { JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import { publicConfigurable } from '../private-keys.ts';
import { INTERRUPT, isNote, RESUME } from '../state-port.ts';
import { toWire } from '../wire.ts';
import type { CheckpointTuple, Saver, SaverConfig } from './saver-contract.ts';

export function bind(graph: CompiledGraph, saver: Pick<Saver, 'getTuple'>, store?: object): CompiledGraph {
  const copy = graph.withConfig({});
  copy.checkpointer = saver;
  if (store !== undefined) copy.store = store;
  return copy;
}

/** The author's metadata and settings from the graph's default config; the graph's checkpoints carry them. */
export const metadataOf = ({
  config: { configurable = {}, metadata = {} } = {},
}: CompiledGraph): JsonObject => ({
  ...publicConfigurable(toWire(configurable) as JsonObject),
  ...(toWire(metadata) as JsonObject),
});

/** The channels that form the state of the root graph. */
export function valueChannels(graph: CompiledGraph): string[] {
  const channels = graph.streamChannelsAsIs;
  return typeof channels === 'string' ? [channels] : [...channels];
}

/** Channel types whose values are missing in checkpoints or stored as deltas. */
const UNHELD_TYPES: ReadonlySet<string | undefined> = new Set(['UntrackedValue', 'DeltaChannel']);

/** The state channels whose value a checkpoint may lack. */
export const unheldChannels = (graph: CompiledGraph): string[] =>
  valueChannels(graph).filter((name) => UNHELD_TYPES.has(graph.channels?.[name]?.lc_graph_name));

/** Hides the interrupts of tasks with a result: they were resumed and only wait for their siblings. */
function withoutResumed(tuple: CheckpointTuple): CheckpointTuple {
  const done = new Set(
    tuple.pendingWrites.filter(([, channel]) => !isNote(channel)).map(([taskId]) => taskId),
  );
  return {
    ...tuple,
    pendingWrites: tuple.pendingWrites.filter(
      ([taskId, channel]) => channel !== INTERRUPT || !done.has(taskId),
    ),
  };
}

/** A saver that hides task results, to read a state as if no task of its step had finished. */
export const withoutResults = (saver: Saver): Saver =>
  toView(saver, async (config) => {
    const tuple = await saver.getTuple(config);
    return tuple && { ...tuple, pendingWrites: tuple.pendingWrites.filter(([, channel]) => isNote(channel)) };
  });

/**
 * A saver for reading states. It hides resume values, because the runtime treats a task with a resume value as finished
 * even if it waits at its next interrupt.
 */
export function toView(saver: Saver, read: Saver['getTuple'] = saver.getTuple): Saver {
  const hideResume = (tuple: CheckpointTuple): CheckpointTuple => ({
    ...tuple,
    pendingWrites: tuple.pendingWrites.filter(([, channel]) => channel !== RESUME),
  });
  return Object.assign(Object.create(saver) as Saver, {
    async getTuple(config: SaverConfig): Promise<CheckpointTuple | undefined> {
      const tuple = await read(config);
      const isHead = config.configurable?.['checkpoint_id'] === undefined;
      return tuple && (isHead ? withoutResumed(hideResume(tuple)) : hideResume(tuple));
    },
    async *list(...args: Parameters<Saver['list']>) {
      for await (const tuple of saver.list(...args)) yield hideResume(tuple);
    },
  } satisfies Partial<Saver>);
}
