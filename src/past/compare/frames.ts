/**
 * Compares the output streams of two executions: in order within each mode and task, because the frames of parallel
 * tasks may interleave in any order.
 */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { parseStored, type RunTrace } from '../trace.ts';
import type { Difference } from './difference.ts';
import { agree, compareValues } from './values.ts';

type Frames = RunTrace['frames'];

/** Frames of the server: the first of every attempt, and the last of a run that failed. */
const OF_SERVER: ReadonlySet<string> = new Set(['metadata', 'error']);

export function compareFrames(recorded: Frames, found: Frames): Difference | undefined {
  const [expected, actual] = [group(recorded), group(found)];
  for (const mode of new Set([...expected.keys(), ...actual.keys()])) {
    const left = [...(expected.get(mode) ?? [])];
    for (const frames of actual.get(mode) ?? []) {
      const index = left.findIndex((each) => isEqual(each, frames));
      if (index < 0) return differenceOf(mode, closest(frames, left), frames);
      left.splice(index, 1);
    }
    if (left[0] !== undefined) return differenceOf(mode, left[0], []);
  }
  return undefined;
}

/** Groups by mode and path, then by task: each group is one sequence. */
function group(frames: Frames): Map<string, Json[][]> {
  const groups = new Map<string, Map<string, Json[]>>();
  for (const { event, data } of frames) {
    if (OF_SERVER.has(event)) continue;
    const value = parseStored(data);
    const mode = nodePathOf(event);
    const tasks = groups.get(mode) ?? new Map<string, Json[]>();
    groups.set(mode, tasks);
    const task = `${event} ${taskOf(value)}`;
    tasks.set(task, [...(tasks.get(task) ?? []), value]);
  }
  return new Map([...groups].map(([mode, tasks]) => [mode, [...tasks.values()]]));
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

const isEqual = (a: readonly Json[], b: readonly Json[]): boolean =>
  a.length === b.length && a.every((frame, at) => agree(frame, b[at]!));

/** The sequence that agrees longest with `frames`. */
function closest(frames: readonly Json[], others: readonly (readonly Json[])[]): readonly Json[] {
  const agreed = (other: readonly Json[]): number => {
    const index = frames.findIndex((frame, at) => other[at] === undefined || !agree(frame, other[at]));
    return index < 0 ? frames.length : index;
  };
  return others.toSorted((a, b) => agreed(b) - agreed(a))[0] ?? [];
}

const differenceOf = (mode: string, recorded: readonly Json[], found: readonly Json[]): Difference => ({
  ...{ what: 'frame', channel: mode },
  ...compareValues([...recorded], [...found])!,
});
