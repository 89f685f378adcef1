/** Compares the writes of one step as a set: parallel tasks write in any order. */
import type { Divergence } from './difference.ts';
import { firstDifference, normalFormOf, type IdMap, type NormalForm } from './values.ts';
import { parseStored, pathOf, type RunWrite } from '../trace.ts';

export interface WriteTolerance {
  /** Writes may be missing in the re-execution. */
  readonly mayLack: boolean;
  /** The re-execution may have further writes. */
  readonly mayAdd: boolean;
  /** Nodes that the step before asked for, in order. */
  readonly sends: readonly string[];
}

/** `sends`: the nodes that the step before asked for, in order. */
function nodeOf(write: RunWrite, sends: readonly string[]): string {
  const [, pulled, pushed] = /^~__pregel_(?:pull, (.+)|push, (\d+))/s.exec(write.taskPath ?? '') ?? [];
  const name = pushed === undefined ? pulled : sends[Number(pushed)];
  const path = pathOf(write.ns);
  return [path, name ?? ''].filter((part) => part !== '').join('|');
}

/** Compares two sets of writes. Undefined when they agree. */
export function compareWrites(
  recorded: readonly RunWrite[],
  found: readonly RunWrite[],
  ids: IdMap,
  { mayLack, mayAdd, sends }: WriteTolerance,
): Omit<Divergence, 'what' | 'step'> | undefined {
  const all = found.map((write) => toWriteForm(write, sends));
  const left = [...all];
  const unmatched: WriteForm[] = [];
  for (const write of recorded.map((each) => toWriteForm(each, sends))) {
    const index = left.findIndex((each) => each.form.text === write.form.text);
    if (index < 0) {
      unmatched.push(write);
      continue;
    }
    const [other] = left.splice(index, 1);
    // Of several equal forms it is not known which belong together, so their ids say nothing.
    const isUnique = all.filter((each) => each.form.text === write.form.text).length === 1;
    const conflict = isUnique ? ids.match(write.form.ids, other!.form.ids) : undefined;
    if (conflict !== undefined) return { ...placeOf(write), ...conflict };
  }
  const a = unmatched[0];
  if (a !== undefined && !(mayLack && left.length === 0)) {
    const b =
      left.find((each) => each.place === a.place) ??
      left.find((each) => each.write.channel === a.write.channel);
    const difference = b && firstDifference(parseStored(a.write.data), parseStored(b.write.data));
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
  readonly form: NormalForm;
  /** Node, channel and index. */
  readonly place: string;
}

function toWriteForm(write: RunWrite, sends: readonly string[]): WriteForm {
  const node = nodeOf(write, sends);
  const place = [node, write.channel, write.idx];
  return {
    write,
    node,
    place: JSON.stringify(place),
    form: normalFormOf([...place, parseStored(write.data)]),
  };
}

const placeOf = ({ node, write: { channel } }: WriteForm): { node: string; channel: string } => ({
  node,
  channel,
});
