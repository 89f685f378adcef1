/** Compares the writes of one step as a set: parallel tasks write in any order. */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { callerOf, nodeOfPath } from '../step-nodes.ts';
import { parseStored, type RunWrite } from '../trace.ts';
import type { Difference } from './difference.ts';
import {
  areEqual,
  compareValues,
  normalFormOf,
  type IdMap,
  type NormalForm,
  type Side,
  type Sides,
} from './values.ts';

export interface WriteTolerance {
  /** Writes may be missing in the re-execution. */
  readonly mayLack: boolean;
  /** The re-execution may have further writes. */
  readonly mayAdd: boolean;
  /** Nodes that the step before called, in order. */
  readonly called: readonly string[];
  /** Names the node of a task whose path does not: of a call in a function, and before library 0.3. */
  readonly nodeOf: (taskId: string) => string | undefined;
}

/** Compares two sets of writes. Undefined when they agree. */
export function compareWrites(
  recorded: readonly RunWrite[],
  found: readonly RunWrite[],
  sides: Sides,
  ids: IdMap,
  { mayLack, mayAdd, called, nodeOf }: WriteTolerance,
): Omit<Difference, 'what' | 'step'> | undefined {
  const placeOf = ({ node, isNamed, write: { channel, taskId, taskPath = '' } }: WriteForm) => {
    const last = isNamed ? '' : (nodeOf(taskId) ?? callerOf(taskPath));
    return { node: [node, last].filter((part) => part !== '').join('|'), channel };
  };
  const all = found.map((write) => toWriteForm(write, called, sides.found));
  const left = [...all];
  const unmatched: WriteForm[] = [];
  for (const write of recorded.map((each) => toWriteForm(each, called, sides.recorded))) {
    const same = left.findIndex((each) => each.form.text === write.form.text);
    const index =
      same >= 0 ? same : left.findIndex((each) => areEqual(write.form.text, each.form.text, sides));
    if (index < 0) {
      unmatched.push(write);
      continue;
    }
    const [other] = left.splice(index, 1);
    // Ids of several equal forms prove nothing: any of them may belong together.
    const isUnique = all.filter((each) => each.form.text === other!.form.text).length === 1;
    const conflict = isUnique ? ids.match(write.form.ids, other!.form.ids) : undefined;
    if (conflict !== undefined) return { ...placeOf(write), ...conflict };
  }
  const a = unmatched[0];
  if (a !== undefined && !(mayLack && left.length === 0)) {
    const b =
      left.find((each) => each.place === a.place) ??
      left.find((each) => each.write.channel === a.write.channel);
    const difference = b && compareValues(parseStored(a.write.data), parseStored(b.write.data), sides);
    return difference === undefined
      ? { ...placeOf(a), recorded: parseStored(a.write.data), found: undefined }
      : { ...placeOf(a), ...difference };
  }
  const extra = left[0];
  if (a !== undefined || extra === undefined || mayAdd) return undefined;
  return { ...placeOf(extra), recorded: undefined, found: parseStored(extra.write.data) };
}

interface WriteForm {
  readonly write: RunWrite;
  /** Path of nodes. */
  readonly node: string;
  /** The path ends with the node of the task. */
  readonly isNamed: boolean;
  readonly form: NormalForm;
  /** Node, channel and index. */
  readonly place: string;
}

function toWriteForm(write: RunWrite, called: readonly string[], side: Side): WriteForm {
  const named = nodeOfPath(write.taskPath ?? '', called);
  const node = [nodePathOf(write.ns), named ?? ''].filter((part) => part !== '').join('|');
  const place = [node, write.channel, write.idx];
  return {
    write,
    node,
    isNamed: named !== undefined,
    place: JSON.stringify(place),
    form: normalFormOf([...place, parseStored(write.data)], side),
  };
}
