/**
 * X5 A static breakpoint holds in every attempt at a run. A resumed attempt has no input, which the runtime treats as a
 * client's "continue": it marks all channel versions as seen and would skip a breakpoint that the earlier attempt
 * reached. The runtime compares versions by channel, so the checkpoint gets an additional pseudo channel with an unseen
 * version. The runtime therefore stops once; the pseudo channel is not saved.
 */
import type { JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunOrder } from '../port.ts';
import { ERROR, HIDDEN_TAG, INTERRUPT, SENDS } from '../state-port.ts';
import type { Checkpoint, CheckpointTuple, Saver } from './saver-contract.ts';

const HELD_CHANNEL = '__held__';

/** Adds the pseudo channel to a checkpoint saved by an earlier attempt at the same run, if it has unseen versions. */
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
  return { ...checkpoint, channel_versions: { ...checkpoint.channel_versions, [HELD_CHANNEL]: newest } };
}

/** True if an attempt stopped at the checkpoint that it started from: it has nothing to save. */
export const isOnlyHeld = (checkpoint: Checkpoint, parentId: string | undefined): boolean =>
  checkpoint.id === parentId && Object.hasOwn(checkpoint.channel_versions, HELD_CHANNEL);

/** Removes the pseudo channel before saving. */
export function withoutHold(checkpoint: Checkpoint): Checkpoint {
  if (!Object.hasOwn(checkpoint.channel_versions, HELD_CHANNEL)) return checkpoint;
  const { [HELD_CHANNEL]: _, ...channel_versions } = checkpoint.channel_versions;
  return { ...checkpoint, channel_versions };
}

/**
 * The runtime checks `interruptAfter` when it applies a node's step. An attempt that resumes behind that step misses the
 * check, so the returned order interrupts before every next node instead.
 */
export async function holdBehind(graph: CompiledGraph, saver: Saver, order: RunOrder): Promise<RunOrder> {
  const breakpoints = order.interruptAfter ?? graph.interruptAfter ?? [];
  if (!order.resume || breakpoints.length === 0) return order;
  const head = await saver.getTuple({ configurable: { thread_id: order.threadId, checkpoint_ns: '' } });
  if (head?.metadata['run_id'] !== order.runId || head.metadata['source'] !== 'loop') return order;
  const isBreakpoint = (node: string): boolean =>
    breakpoints === '*'
      ? Object.hasOwn(graph.nodes, node) && graph.nodes[node]?.tags?.includes(HIDDEN_TAG) !== true
      : breakpoints.includes(node);
  const isBehind =
    order.durability === 'exit' ? isPaused(head) : (await lastStep(saver, head)).some(isBreakpoint);
  return isBehind ? { ...order, interruptBefore: Object.keys(graph.nodes) } : order;
}

/** True for a breakpoint, when the durability `exit` saves only the run's end: it has neither error nor interrupt. */
const isPaused = ({ pendingWrites }: CheckpointTuple): boolean =>
  !pendingWrites.some(([, channel]) => channel === ERROR || channel === INTERRUPT);

async function lastStep(saver: Saver, { checkpoint, parentConfig }: CheckpointTuple): Promise<string[]> {
  const before = parentConfig && (await saver.getTuple(parentConfig));
  return stepBetween(before?.checkpoint, checkpoint);
}

/** The nodes that ran between two checkpoints: those with new seen versions, and targets of `Send`. */
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
