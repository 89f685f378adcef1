/** A graph object serves all runs at once, so each run works on the library's own copy, which gets that run's saver. */
import type { JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import { INTERRUPT, isNote, RESUME } from '../state-port.ts';
import { toWire } from '../wire.ts';
import type { CheckpointTuple, Saver, SaverConfig } from './saver-contract.ts';

export function bind(graph: CompiledGraph, saver: Pick<Saver, 'getTuple'>, store?: object): CompiledGraph {
  const copy = graph.withConfig({});
  copy.checkpointer = saver;
  if (store !== undefined) copy.store = store;
  return copy;
}

/** The author's own metadata, which the graph's checkpoints carry. */
export const metadataOf = ({ config }: CompiledGraph): JsonObject =>
  config?.metadata === undefined ? {} : (toWire(config.metadata) as JsonObject);

/** The channels whose values make up the state of the root graph. */
export function valueChannels(graph: CompiledGraph): string[] {
  const channels = graph.streamChannelsAsIs;
  return typeof channels === 'string' ? [channels] : [...channels];
}

/** Kept out of checkpoints by the runtime, or kept as what was added since an earlier one. */
const UNHELD: ReadonlySet<string | undefined> = new Set(['UntrackedValue', 'DeltaChannel']);

/** Those of them that a checkpoint may not hold. */
export const unheldChannels = (graph: CompiledGraph): string[] =>
  valueChannels(graph).filter((name) => UNHELD.has(graph.channels?.[name]?.lc_graph_name));

/** A task that has a result only waits for its siblings: its question was answered and must not be asked again. */
function withoutAnswered(tuple: CheckpointTuple): CheckpointTuple {
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

/** The saver for reading a state as if no task of its step had a result yet. */
export const withoutResults = (saver: Saver): Saver =>
  toView(saver, async (config) => {
    const tuple = await saver.getTuple(config);
    return tuple && { ...tuple, pendingWrites: tuple.pendingWrites.filter(([, channel]) => isNote(channel)) };
  });

/**
 * The saver for reading states. The runtime takes a task that has got an answer for a finished one, even if it waits
 * for the next answer; without the answers it sees what is still to run.
 */
export function toView(saver: Saver, read: Saver['getTuple'] = saver.getTuple): Saver {
  const unanswered = (tuple: CheckpointTuple): CheckpointTuple => ({
    ...tuple,
    pendingWrites: tuple.pendingWrites.filter(([, channel]) => channel !== RESUME),
  });
  return Object.assign(Object.create(saver) as Saver, {
    async getTuple(config: SaverConfig): Promise<CheckpointTuple | undefined> {
      const tuple = await read(config);
      const isHead = config.configurable?.['checkpoint_id'] === undefined;
      return tuple && (isHead ? withoutAnswered(unanswered(tuple)) : unanswered(tuple));
    },
    async *list(...args: Parameters<Saver['list']>) {
      for await (const tuple of saver.list(...args)) yield unanswered(tuple);
    },
  } satisfies Partial<Saver>);
}
