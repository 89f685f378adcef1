/** Tells from a run's last checkpoint that no node is left to run, without asking the runtime for a whole state. */
import type { CompiledGraph } from '../graph-shapes.ts';
import { SENDS } from '../state-port.ts';
import type { Checkpoint, CheckpointTuple } from './saver-contract.ts';

type Versions = Readonly<Record<string, string | number>>;

/** False if a node may be left: the runtime starts those whose triggers have values that they have not seen, and sends. */
export function isFinished(
  { nodes }: CompiledGraph,
  { checkpoint, pendingWrites }: CheckpointTuple,
): boolean {
  if (pendingWrites.length > 0 || hasSends(checkpoint)) return false;
  const { channel_values: values, channel_versions: versions } = checkpoint;
  const seenBy = (checkpoint['versions_seen'] ?? {}) as Readonly<Record<string, Versions | undefined>>;
  return Object.entries(nodes).every(([node, { triggers }]) =>
    triggers?.every(
      (channel) => values[channel] === undefined || versions[channel] === seenBy[node]?.[channel],
    ),
  );
}

/** Older library versions keep sends beside the channels. */
const hasSends = ({ channel_values: values, pending_sends: sends = [] }: Checkpoint): boolean =>
  [values[SENDS] ?? [], sends].flat(2).length > 0;
