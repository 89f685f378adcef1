/**
 * X5 A static breakpoint holds in every attempt at a run. The runtime takes a run without input for one that a client
 * lets go on, marks all that its channels have become as seen, and would step over a breakpoint that an earlier attempt
 * had come to when its process ended. It counts versions of channels: one that is no channel of the graph is never
 * marked, so it holds at what that attempt had not seen, once, and is not saved again.
 */
import type { JsonObject } from '../../kernel/json.ts';
import { INTERRUPT } from '../state-port.ts';
import type { Checkpoint } from './saver-contract.ts';

const HELD = '__held__';

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

/** What is saved of it. */
export function withoutHold(checkpoint: Checkpoint): Checkpoint {
  if (!Object.hasOwn(checkpoint.channel_versions, HELD)) return checkpoint;
  const { [HELD]: _, ...channel_versions } = checkpoint.channel_versions;
  return { ...checkpoint, channel_versions };
}

type Versions = Record<string, string | number>;
