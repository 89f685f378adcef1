/** Binds a graph to one run's saver. Concurrent runs share the graph object, so the library makes a copy for each run. */
import type { JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph, DeltaChannel, GraphChannel } from '../graph-shapes.ts';
import { publicConfigurable } from '../private-keys.ts';
import { INTERRUPT, isNote, RESUME } from '../state-port.ts';
import { toWire } from '../wire.ts';
import type { CheckpointTuple, Saver, SaverConfig } from './saver-contract.ts';

/** Keeps what follows from the graph alone: a process runs the same few graphs again and again. */
function ofGraph<T>(make: (graph: CompiledGraph) => T): (graph: CompiledGraph) => T {
  const made = new WeakMap<CompiledGraph, { readonly value: T }>();
  return (graph) => {
    let known = made.get(graph);
    if (known === undefined) made.set(graph, (known = { value: make(graph) }));
    return known.value;
  };
}

/** `handlers`: callback handlers of the library, beside those of the author. */
export function bind(
  graph: CompiledGraph,
  saver: Pick<Saver, 'getTuple'>,
  { store, handlers = [] }: { readonly store?: object; readonly handlers?: readonly object[] } = {},
): CompiledGraph {
  const copy = graph.withConfig(handlers.length === 0 ? {} : { callbacks: handlers });
  copy.checkpointer = saver;
  const deltas = wholeDeltas(graph);
  if (deltas.length > 0) copy.channels = { ...copy.channels, ...Object.fromEntries(deltas) };
  if (store !== undefined) copy.store = store;
  return copy;
}

/** The author's metadata and settings from the graph's default config; the graph's checkpoints carry them. */
export const metadataOf = ofGraph(({ config: { configurable = {}, metadata = {} } = {} }): JsonObject => ({
  ...publicConfigurable(toWire(configurable) as JsonObject),
  ...(toWire(metadata) as JsonObject),
}));

/** The channels that form the state of the root graph. */
export const valueChannels = ofGraph(({ streamChannelsAsIs: channels }): readonly string[] =>
  typeof channels === 'string' ? [channels] : [...channels],
);

/**
 * Makes every checkpoint that changes a delta channel store the channel's whole value, as it does for other channels.
 * Readers without graph code (searches, webhooks, replay) then find it, and a reducer that gives ids runs only once.
 */
const wholeDeltas = ofGraph(({ channels = {} }) =>
  Object.entries(channels)
    .filter(([, { lc_graph_name: type }]) => type === 'DeltaChannel')
    .map(([name, channel]): [string, GraphChannel] => [
      name,
      Object.assign((channel as DeltaChannel).fromCheckpoint(), { snapshotFrequency: 1 }),
    ]),
);

/** The values of unwritten delta channels of the graph's state; the runtime shows them, but stores none. */
export const deltaDefaults = ofGraph((graph): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    deltaChannels(graph).map((name) => [
      name,
      (graph.channels?.[name] as DeltaChannel).fromCheckpoint().get(),
    ]),
  ),
);

/** The state channels of a type of the library. */
const channelsOf = (type: 'DeltaChannel' | 'UntrackedValue') =>
  ofGraph((graph) => valueChannels(graph).filter((name) => graph.channels?.[name]?.lc_graph_name === type));
export const deltaChannels = channelsOf('DeltaChannel');
export const untrackedChannels = channelsOf('UntrackedValue');

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
