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
  /** The last group that is about a row. */
  const lastOf = new Map<string, number>();
  return {
    add(step) {
      const { sql, want, about, refusal } = step;
      const text = want + sql;
      const rows = about!;
      const known = byText.get(text);
      const isFree = known !== undefined && rows.every((row) => (lastOf.get(row) ?? -1) < known);
      const isAlike = isFree && (isShared || groups[known]!.refusal === refusal);
      const at = isAlike ? known : groups.push({ steps: [], refusal }) - 1;
      groups[at]!.steps.push(step);
      byText.set(text, at);
      for (const row of rows) lastOf.set(row, at);
    },
    take() {
      const taken = groups.map(({ steps }) => steps);
      groups = [];
      byText.clear();
      lastOf.clear();
      return taken;
    },
  };
}
