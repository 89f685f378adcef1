/**
 * Writes of a transaction that have not been sent. Those with the same text become one statement, as long as none overtakes
 * another write of a row that it is about.
 */
import type { Step } from '../sql/work.ts';

interface Group {
  readonly steps: Step[];
  readonly refusal: Step['refusal'];
}

export interface Pending {
  /** `step.about` says of which rows it is. */
  add(step: Step): void;
  /** Returns the groups in the order in which they are to be sent. */
  take(): (readonly Step[])[];
}

/** `isShared`: it need not be known which of the steps was refused. */
export function createPending(isShared: boolean): Pending {
  let groups: Group[] = [];
  const byText = new Map<string, number>();
  /** The last group that changes a row, and the last one that reads it. */
  const [changed, read] = [new Map<string, number>(), new Map<string, number>()];
  const isBefore = (of: ReadonlyMap<string, number>, row: string, at: number): boolean =>
    (of.get(row) ?? -1) < at;
  return {
    add(step) {
      const { sql, want, about = [], reads = [], refusal } = step;
      const text = want + sql;
      const known = byText.get(text);
      const isFree =
        known !== undefined &&
        [...about, ...reads].every((row) => isBefore(changed, row, known)) &&
        // A statement sees none of its own changes.
        about.every((row) => isBefore(read, row, known + 1));
      const isAlike = isFree && (isShared || groups[known]!.refusal === refusal);
      const at = isAlike ? known : groups.push({ steps: [], refusal }) - 1;
      groups[at]!.steps.push(step);
      byText.set(text, at);
      for (const row of about) changed.set(row, at);
      for (const row of reads) read.set(row, at);
    },
    take() {
      const taken = groups.map(({ steps }) => steps);
      groups = [];
      for (const each of [byText, changed, read]) each.clear();
      return taken;
    },
  };
}
