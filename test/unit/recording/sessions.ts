import { openMasks } from '../../../src/recording/masks.ts';
import type { RecordingPart } from '../../../src/recording/parts.ts';
import { unpackPart } from '../../../src/recording/unpack.ts';
import { openPlayer, type RequestDifference } from '../../../src/recording/player.ts';
import { openRecorder } from '../../../src/recording/recorder.ts';
import { standInFor } from '../../../src/recording/stand-ins.ts';

const TASK = { metadata: { langgraph_step: 1, langgraph_node: 'agent' } };

/** A recorder of the node `agent`, and the parts that it has written. */
export function record(options: { maxBytes?: number; secrets?: readonly string[] } = {}) {
  const parts: RecordingPart[] = [];
  const recorder = openRecorder({
    ...{ attempt: 1, seed: 'seed', maxBytes: options.maxBytes ?? 1_000_000, now: () => 1_000 },
    masks: openMasks(
      new Map((options.secrets ?? []).map((text, at) => [text, standInFor(`test ${at}`, text)])),
    ),
    write(bytes) {
      const part = unpackPart(bytes);
      // Names the addresses that earlier tests of this process have asked.
      if (part.kind !== 'asked') parts.push(part);
    },
  });
  recorder.configOf = () => TASK;
  return { parts, recorder };
}

/** A player of `parts`, in the node `agent`. */
export function play(
  parts: readonly RecordingPart[],
  realNow = () => 5,
  isWhole = true,
  onStalled = (): void => undefined,
) {
  const differences: RequestDifference[] = [];
  const player = openPlayer({
    ...{ parts, match: 'exact', live: false, answers: new Map(), realNow, isWhole },
    onDifference: (difference) => void differences.push(difference),
    onClosed: () => undefined,
    onStore: () => undefined,
    onStalled,
  });
  player.configOf = () => TASK;
  return { player, differences };
}
