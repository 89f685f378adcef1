/**
 * One order for what parallel tasks show. The library does not promise which of them is first, so each side is sorted
 * by content before the two are compared. Order within a task, and from step to step of a graph, stays as it was.
 */
import { mask, type Masked } from './mask.ts';

/** As `run` shows it: `mode|node:id|node:id`, and the data of the chunk. */
type Frame = readonly [event: string, data: any];

/** `shown`: frames, texts or names that a step showed, or the values that it ended with. */
export function inOneOrder(shown: unknown, masked: Masked): unknown {
  const keyOf = (value: unknown): string => JSON.stringify(mask(value, masked)) ?? '';
  const sorted = <T>(values: readonly T[]): T[] =>
    values
      .map((value) => ({ value, key: keyOf(value) }))
      .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
      .map(({ value }) => value);

  /** Questions stand in the order in which they were asked. */
  const withQuestions = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withQuestions);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) =>
        key === '__interrupt__' && Array.isArray(each) ? [key, sorted(each)] : [key, withQuestions(each)],
      ),
    );
  };

  /** The graph's own frames, then those of each graph within it: which graph is ahead of which is not compared. */
  const inLevels = (frames: readonly Frame[], depth: number): Frame[] => {
    const own: Frame[] = [];
    const within = new Map<string, Frame[]>();
    for (const frame of frames) {
      const place = frame[0].split('|')[depth + 1];
      if (place === undefined) own.push(frame);
      else within.set(place, [...(within.get(place) ?? []), frame]);
    }
    const inner = [...within.values()].map((each) => inLevels(each, depth + 1));
    const isParallel = depth === 0 || inner.length > 1;
    return [...(isParallel ? splitAtSteps(own).flatMap(inTasks) : own), ...sorted(inner).flat()];
  };

  const inTasks = (step: readonly Frame[]): Frame[] => {
    const tasks = new Map<unknown, Frame[]>();
    for (const frame of step) {
      const task = taskOf(frame) ?? frame;
      tasks.set(task, [...(tasks.get(task) ?? []), frame]);
    }
    return sorted([...tasks.values()]).flat();
  };

  const settled = withQuestions(shown);
  if (!Array.isArray(settled)) return settled;
  return settled.every((each) => typeof each === 'string')
    ? sorted(settled)
    : inLevels(settled.map(withoutLateIds), 0);
}

/**
 * The library gives a tool's message its id when the step ends, in the very object that the task showed: whether the
 * task's frame has it depends on which task was last. Frames of the whole step always have it.
 */
function withoutLateIds(frame: Frame): Frame {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => key !== 'id' || !('tool_call_id' in value));
    return Object.fromEntries(entries.map(([key, each]) => [key, strip(each)]));
  };
  const [event, data] = frame;
  const isOfTask = !isOfStep(frame) && !event.startsWith('messages');
  return isOfTask ? [event, strip(data)] : frame;
}

/** Frames that tell of a whole step each stand alone: they come after everything that the step's tasks showed. */
function splitAtSteps(frames: readonly Frame[]): Frame[][] {
  const parts: Frame[][] = [[]];
  for (const frame of frames)
    if (isOfStep(frame)) parts.push([frame], []);
    else parts.at(-1)!.push(frame);
  return parts;
}

function isOfStep([event, data]: Frame): boolean {
  const [mode] = event.split('|');
  // A question shows as values of its own as soon as its task asks it.
  if (mode === 'values') return !('__interrupt__' in data);
  return mode === 'checkpoints' || (mode === 'debug' && data.type === 'checkpoint');
}

/** Undefined where the frame does not say of which task it is. */
function taskOf([event, data]: Frame): string | undefined {
  const [mode] = event.split('|');
  if (mode === 'messages') return `messages ${data[1].langgraph_checkpoint_ns}`;
  if (mode === 'tasks') return data.id;
  return mode === 'debug' ? data.payload.id : undefined;
}
