/**
 * X5 A static breakpoint holds in every attempt at a run. The runtime takes a run without input for one that a client
 * lets go on, marks all that its channels have become as seen, and would step over a breakpoint that an earlier attempt
 * had come to when its process ended. It counts versions of channels: one that is no channel of the graph is never
 * marked, so it holds at what that attempt had not seen, once, and is not saved again.
 */
import type { JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunOrder } from '../port.ts';
import { ERROR, INTERRUPT, SENDS } from '../state-port.ts';
import type { Checkpoint, CheckpointTuple, Saver } from './saver-contract.ts';

const HELD = '__held__';
const HIDDEN = 'langsmith:hidden';

/** What the runtime is given of a checkpoint that an earlier attempt at the same run has saved. */
export function holdBreakpoints(checkpoint: Checkpoint, saved: JsonObject, run: JsonObject): Checkpoint {
  if (saved['run_id'] !== run['run_id'] || saved['run_attempt'] === run['run_attempt']) return checkpoint;
  const { [INTERRUPT]: seen = {} } = checkpoint['versions_seen'] as Record<string, Versions | undefined>;
  const versions = Object.entries(checkpoint.channel_versions);
  const isUnseen = versions.some(([channel, version]) => {
    const last = Object.hasOwn(seen, channel) ? seen[channel] : undefined;
    return last === undefined || version > last;
  });
  if (!isUnseen) return checkpoint;
  const newest = versions.map(([, version]) => version).reduce((a, b) => (a > b ? a : b));
  return { ...checkpoint, channel_versions: { ...checkpoint.channel_versions, [HELD]: newest } };
}

/** An attempt that has gone no further than what it was given has nothing to save: only what it marked as seen. */
export const isOnlyHeld = (checkpoint: Checkpoint, parentId: string | undefined): boolean =>
  checkpoint.id === parentId && Object.hasOwn(checkpoint.channel_versions, HELD);

/** What is saved of it. */
export function withoutHold(checkpoint: Checkpoint): Checkpoint {
  if (!Object.hasOwn(checkpoint.channel_versions, HELD)) return checkpoint;
  const { [HELD]: _, ...channel_versions } = checkpoint.channel_versions;
  return { ...checkpoint, channel_versions };
}

/**
 * The runtime asks for a breakpoint behind a node where it applies the node's step. An attempt that goes on from what
 * that step saved does not come by there, so it is to hold before whatever is next.
 */
export async function holdBehind(graph: CompiledGraph, saver: Saver, order: RunOrder): Promise<RunOrder> {
  const places = order.interruptAfter ?? graph.interruptAfter ?? [];
  if (!order.resume || places.length === 0) return order;
  const head = await saver.getTuple({ configurable: { thread_id: order.threadId, checkpoint_ns: '' } });
  if (head?.metadata['run_id'] !== order.runId || head.metadata['source'] !== 'loop') return order;
  const isPlace = (node: string): boolean =>
    places === '*'
      ? Object.hasOwn(graph.nodes, node) && graph.nodes[node]?.tags?.includes(HIDDEN) !== true
      : places.includes(node);
  const isBehind = order.durability === 'exit' ? isPaused(head) : (await lastStep(saver, head)).some(isPlace);
  return isBehind ? { ...order, interruptBefore: Object.keys(graph.nodes) } : order;
}

/** Saved at its end alone: a breakpoint is the one end that leaves something to do, and no word why. */
const isPaused = ({ pendingWrites }: CheckpointTuple): boolean =>
  !pendingWrites.some(([, channel]) => channel === ERROR || channel === INTERRUPT);

async function lastStep(saver: Saver, { checkpoint, parentConfig }: CheckpointTuple): Promise<string[]> {
  const before = parentConfig && (await saver.getTuple(parentConfig));
  return stepBetween(before?.checkpoint, checkpoint);
}

/** The nodes that worked between two checkpoints: those that have seen more in the later one, and those sent for. */
function stepBetween(before: Checkpoint | undefined, after: Checkpoint): string[] {
  const [earlier, later] = [before, after].map(
    (checkpoint) => (checkpoint?.['versions_seen'] ?? {}) as Record<string, Versions | undefined>,
  ) as [Record<string, Versions | undefined>, Record<string, Versions | undefined>];
  const saw = Object.keys(later).filter(
    (node) => node !== INTERRUPT && JSON.stringify(later[node]) !== JSON.stringify(earlier[node]),
  );
  const sent = (before?.channel_values[SENDS] ?? []) as readonly { readonly node: string }[];
  return [...saw, ...sent.map(({ node }) => node)];
}

type Versions = Record<string, string | number>;
