/**
 * Reads texts that are differences from others. S3 Long ones are put together from the stretches of the texts that have
 * them: none of those in between is made.
 */
import { readSteps, type Step } from './text-steps.ts';

/** A stored text. `bases` is undefined for a whole one; else row ids, and texts that the reader knows anyway. */
export interface TextRow {
  readonly data: string;
  readonly bases?: readonly (number | string)[] | undefined;
  /** Length of the whole text. */
  readonly size: number;
}

/** Texts up to this length are put together in full, once; of longer ones only the stretches that are wanted. */
const MAX_FULL = 8192;

/** Reads texts of one chain. `find` throws for a row that is gone. */
export function createAssembler(find: (id: number) => TextRow) {
  const texts = new Map<number, string>();
  const known = new Map<number, readonly Step[]>();
  const sizeOf = (base: number | string): number =>
    typeof base === 'string' ? base.length : find(base).size;
  const stepsOf = (id: number): readonly Step[] => {
    const steps = known.get(id) ?? readSteps(find(id).data);
    known.set(id, steps);
    return steps;
  };

  /** The parts of a row's text between two places, in order, each with the row or text that has it. */
  function partsOf(id: number, from: number, to: number): [of: number | string, from: number, to: number][] {
    const steps = stepsOf(id);
    const parts: [number | string, number, number][] = [];
    let [low, high] = [0, steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle]!.at + steps[middle]!.length <= from) low = middle + 1;
      else high = middle;
    }
    for (let index = low; index < steps.length && steps[index]!.at < to; index++) {
      const { at, length, place, text } = steps[index]!;
      let [start, end] = [Math.max(0, from - at), Math.min(length, to - at)];
      if (text !== undefined) {
        parts.push([text, start, end]);
        continue;
      }
      [start, end] = [place + start, place + end];
      for (const base of find(id).bases!) {
        const size = sizeOf(base);
        if (start < size && start < end) parts.push([base, start, Math.min(end, size)]);
        [start, end] = [Math.max(0, start - size), end - size];
      }
      if (start < end) parts.push([id, start, end]);
    }
    return parts;
  }

  /** Of a row of at most `MAX_FULL` units: its bases may be longer. */
  function fullText(id: number): string {
    const made = texts.get(id);
    if (made !== undefined) return made;
    let text = '';
    for (const [of, from, to] of partsOf(id, 0, Infinity))
      text +=
        of === id ? text.slice(from, to) : typeof of === 'string' ? of.slice(from, to) : read(of, from, to);
    texts.set(id, text);
    return text;
  }

  function read(id: number, from = 0, to = Infinity): string {
    const parts: string[] = [];
    const work: [of: number | string, from: number, to: number][] = [[id, from, to]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [of, start, end] = next;
      const row = typeof of === 'string' ? undefined : find(of);
      if (typeof of === 'string') parts.push(of.slice(start, end));
      else if (row!.bases === undefined) parts.push(row!.data.slice(start, end));
      else if (row!.size <= MAX_FULL) parts.push(fullText(of).slice(start, end));
      else work.push(...partsOf(of, start, end).reverse());
    }
    return parts.join('');
  }

  return {
    read,
    /** The longest stretch that a row copies from its first base. */
    stretchOf(id: number): { readonly head: number; readonly start: number; readonly kept: number } {
      const size = sizeOf(find(id).bases![0]!);
      const whole = stepsOf(id).filter(
        ({ place, length, text }) => text === undefined && place + length <= size,
      );
      const longest = whole.reduce((a, b) => (b.length > a.length ? b : a), { at: 0, place: 0, length: 0 });
      return { head: longest.at, start: longest.place, kept: longest.length };
    },
  };
}
