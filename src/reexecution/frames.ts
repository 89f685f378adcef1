/**
 * Compares the output streams of two executions: in order within each mode and task, because the frames of parallel
 * tasks may interleave in any order.
 */
import { isObject, type Json } from '../kernel/json.ts';
import type { Divergence } from './divergence.ts';
import { firstDifference, normalFormOf } from './normal-form.ts';
import { parseStored, type RunTrace } from './run-data.ts';

type Frames = RunTrace['frames'];

/** Frames of the server: the first of every attempt, and the last of a run that failed. */
const OF_SERVER: ReadonlySet<string> = new Set(['metadata', 'error']);

/** `attempts`: of the recorded run. An attempt that broke off leaves frames that a later one repeats. */
export function compareFrames(recorded: Frames, found: Frames, attempts: number): Divergence | undefined {
  const [expected, actual] = [group(recorded), group(found)];
  for (const [mode, groups] of expected) {
    const left = [...(actual.get(mode) ?? [])];
    actual.delete(mode);
    for (const frames of groups) {
      const index = left.findIndex((each) => isEqual(frames, each, attempts > 1));
      if (index >= 0) left.splice(index, 1);
      else return differenceOf(mode, frames, left[0] ?? []);
    }
    if (left[0] !== undefined) return differenceOf(mode, [], left[0]);
  }
  for (const [mode, [frames]] of actual) if (frames !== undefined) return differenceOf(mode, [], frames);
  return undefined;
}

/** Groups by mode and path, then by task: each group is one sequence. */
function group(frames: Frames): Map<string, Json[][]> {
  const groups = new Map<string, Map<string, Json[]>>();
  for (const { event, data } of frames) {
    if (OF_SERVER.has(event)) continue;
    const value = parseStored(data);
    const mode = event.replace(/:[^|]+/g, '');
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

function isEqual(recorded: readonly Json[], found: readonly Json[], mayRepeat: boolean): boolean {
  const [a, b] = [recorded, found].map((frames) => frames.map((each) => normalFormOf(each).text));
  if (!mayRepeat) return a!.length === b!.length && a!.every((text, index) => text === b![index]);
  // Every frame of the re-execution stands in the log in this order; the rest are repetitions.
  let at = 0;
  for (const text of a!) if (text === b![at]) at += 1;
  return at === b!.length && a!.every((text) => b!.includes(text));
}

function differenceOf(mode: string, recorded: readonly Json[], found: readonly Json[]): Divergence {
  const length = Math.max(recorded.length, found.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [recorded[index], found[index]];
    if (a === undefined || b === undefined)
      return { what: 'frame', channel: mode, path: `[${index}]`, recorded: a, found: b };
    const difference = firstDifference(a, b);
    if (difference !== undefined)
      return { what: 'frame', channel: mode, ...difference, path: `[${index}]${dotted(difference.path)}` };
  }
  return { what: 'frame', channel: mode, recorded: recorded.length, found: found.length };
}

const dotted = (path: string): string => (path === '' || path.startsWith('[') ? path : `.${path}`);
