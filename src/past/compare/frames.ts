/**
 * Compares the output streams of two executions: in order within each mode and task, because the frames of parallel
 * tasks may interleave in any order.
 */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { parseStored, type RunTrace } from '../trace.ts';
import type { Difference } from './difference.ts';
import { agree, compareValues, type Sides } from './values.ts';

type Frames = RunTrace['frames'];

/** Frames of the server: the first of every attempt, and the last of a run that failed. */
const OF_SERVER: ReadonlySet<string> = new Set(['metadata', 'error']);

export function compareFrames(recorded: Frames, found: Frames, sides: Sides): Difference | undefined {
  const [expected, actual] = [group(recorded), group(found)];
  for (const mode of new Set([...expected.keys(), ...actual.keys()])) {
    const left = [...(expected.get(mode) ?? [])];
    for (const frames of actual.get(mode) ?? []) {
      const index = left.findIndex((each) => isEqual(each, frames, sides));
      if (index < 0) return differenceOf(mode, closest(frames, left, sides), frames, sides);
      left.splice(index, 1);
    }
    if (left[0] !== undefined) return differenceOf(mode, left[0], [], sides);
  }
  return undefined;
}

/** Groups by mode and path, then by task: each group is one sequence. */
function group(frames: Frames): Map<string, Json[][]> {
  const groups = new Map<string, Map<string, Json[]>>();
  for (const [index, { event, data }] of frames.entries()) {
    if (OF_SERVER.has(event)) continue;
    const mode = nodePathOf(event);
    const value = mode.startsWith('debug') ? withoutTimestamp(parseStored(data)) : parseStored(data);
    const tasks = groups.get(mode) ?? new Map<string, Json[]>();
    groups.set(mode, tasks);
    // Parallel tasks of one node end in any order, and an update does not name its task.
    const task = `${event} ${/^updates(\||$)/.test(event) ? index : taskOf(value)}`;
    tasks.set(task, [...(tasks.get(task) ?? []), value]);
  }
  return new Map([...groups].map(([mode, tasks]) => [mode, [...tasks.values()]]));
}

/** The library reads this time when a task ends, outside of tasks: which of parallel tasks ends first is free. */
function withoutTimestamp(frame: Json): Json {
  if (!isObject(frame)) return frame;
  const { timestamp: _, ...rest } = frame;
  return rest;
}

/** Members that name the task of a frame: message chunks, tasks and debug output, updates by node. */
function taskOf(value: Json): string {
  if (Array.isArray(value)) {
    const metadata = value[1];
    return isObject(metadata)
      ? String(metadata['langgraph_checkpoint_ns'] ?? metadata['checkpoint_ns'] ?? '')
      : '';
  }
  if (!isObject(value)) return '';
  const payload = isObject(value['payload']) ? value['payload'] : value;
  if (typeof payload['id'] === 'string' && typeof payload['name'] === 'string') return payload['id'];
  if (typeof value['run_id'] === 'string') return value['run_id'];
  const keys = Object.keys(value);
  return keys.length === 1 ? keys[0]! : '';
}

const isEqual = (a: readonly Json[], b: readonly Json[], sides: Sides): boolean =>
  a.length === b.length && a.every((frame, at) => agree(frame, b[at]!, sides));

/** The sequence that agrees longest with `frames`. */
function closest(
  frames: readonly Json[],
  others: readonly (readonly Json[])[],
  sides: Sides,
): readonly Json[] {
  const agreed = (other: readonly Json[]): number => {
    const index = frames.findIndex((frame, at) => other[at] === undefined || !agree(other[at], frame, sides));
    return index < 0 ? frames.length : index;
  };
  return others.toSorted((a, b) => agreed(b) - agreed(a))[0] ?? [];
}

function differenceOf(
  mode: string,
  recorded: readonly Json[],
  found: readonly Json[],
  sides: Sides,
): Difference {
  const difference = compareValues([...recorded], [...found], sides)!;
  const index = Number(/^\[(\d+)\]/.exec(difference.path)?.[1] ?? 0);
  return { what: 'frame', ...placeOf(found[index] ?? recorded[index]), channel: mode, ...difference };
}

/** Step and node as far as the frame names them. */
function placeOf(frame: Json | undefined): Pick<Difference, 'step' | 'node'> {
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
