/** Compares the output streams of two executions, mode by mode and in order. */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { parseStored, type RunTrace } from '../trace.ts';
import type { Difference } from './difference.ts';
import { agree, compareValues, type Sides } from './values.ts';

type Frames = RunTrace['frames'];

interface Placed {
  readonly value: Json;
  /** Index among all frames of the execution. */
  readonly index: number;
}

export interface FrameDifference {
  readonly difference: Difference;
  /** Index of the frame that differs: in the re-execution, or in the recorded run where it is missing. */
  readonly index: number;
  readonly isFound: boolean;
}

/** Frames of the server: the first of every attempt, and the last of a run that failed. */
const OF_SERVER: ReadonlySet<string> = new Set(['metadata', 'error']);

export function compareFrames(recorded: Frames, found: Frames, sides: Sides): FrameDifference | undefined {
  const [expected, actual] = [group(recorded), group(found)];
  let first: FrameDifference | undefined;
  for (const mode of new Set([...expected.keys(), ...actual.keys()])) {
    const [a, b] = [expected.get(mode) ?? [], actual.get(mode) ?? []];
    const at = Array.from({ length: Math.max(a.length, b.length) }).findIndex(
      (_, index) =>
        a[index] === undefined || b[index] === undefined || !agree(a[index].value, b[index].value, sides),
    );
    if (at < 0) continue;
    const [one, other] = [a[at], b[at]];
    const difference = compareValues(one?.value, other?.value, sides)!;
    const { index } = (other ?? one)!;
    // The earliest difference of all modes is the closest to its cause.
    if (first !== undefined && first.index <= index) continue;
    const path = `[${at}]${difference.path === '' || difference.path.startsWith('[') ? '' : '.'}${difference.path}`;
    const place = placeOf((other ?? one)!.value);
    first = {
      difference: { what: 'frame', ...place, channel: mode, ...difference, path },
      ...{ index, isFound: other !== undefined },
    };
  }
  return first;
}

/** Frames by mode and path of nodes. */
function group(frames: Frames): Map<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  for (const [index, { event, data }] of frames.entries()) {
    if (OF_SERVER.has(event)) continue;
    const mode = nodePathOf(event);
    const placed = { value: parseStored(data), index };
    const known = groups.get(mode);
    if (known === undefined) groups.set(mode, [placed]);
    else known.push(placed);
  }
  return groups;
}

/** Step and node as far as the frame names them. */
function placeOf(frame: Json): Pick<Difference, 'step' | 'node'> {
  const value = Array.isArray(frame) ? frame[1] : frame;
  if (!isObject(value)) return {};
  const payload = isObject(value['payload']) ? value['payload'] : value;
  const keys = Object.keys(value);
  const only = keys.length === 1 && isObject(value[keys[0]!]) ? keys[0] : undefined;
  const [step, node] = [
    value['langgraph_step'] ?? value['step'],
    value['langgraph_node'] ?? payload['name'] ?? only,
  ];
  return {
    ...(typeof step === 'number' && { step }),
    ...(typeof node === 'string' && { node }),
  };
}
