/**
 * X7 What earlier attempts of a run were answered, for the tasks that its next attempt repeats. All attempts are merged: a call
 * takes the place of an earlier attempt's call with the same task, digest and ordinal.
 *
 * Refusals and failures are served only when a later call of their task was kept: the code went on, and does so again. The
 * last one of a task is asked anew. After two attempts that died without a new answer nothing is served, because an answer
 * may be what they died of.
 */
import { isCall, type KeptCall, type KeptPart } from './kept-calls.ts';
import type { Read } from './kept-reads.ts';
import type { ClockKind, TaskKey } from './parts.ts';

/** What is left of one task. */
export interface KeptTask {
  /** Its namespace in the attempt that kept it. */
  readonly ns: string;
  readonly readings: ReadonlyMap<ClockKind, readonly number[]>;
  /** True while there is something that the task has not been served. */
  hasAnswers(): boolean;
  take(digest: string, ordinal: number): KeptCall | undefined;
  /** The call was asked, and nothing came of it. */
  isUnanswered(asked: number): boolean;
}

export interface KeptAnswers {
  /** The seed of the earlier attempts. */
  readonly seed: string | undefined;
  readonly reads: readonly Read[];
  /** A namespace that no earlier attempt had stands for the first one of the same names that is still free. */
  taskAt(ns: string, names: () => TaskKey): KeptTask | undefined;
}

const MAX_FRUITLESS_DEATHS = 2;

export function openKeptAnswers(parts: readonly KeptPart[], charges: number): KeptAnswers {
  const calls = parts.filter(isCall);
  const last = calls.reduce((most, call) => Math.max(most, call.charges), calls.length === 0 ? charges : 0);
  const isServed = charges - last <= MAX_FRUITLESS_DEATHS;
  const byNamespace = isServed ? Map.groupBy(parts, ({ ns }) => ns) : new Map<string, KeptPart[]>();
  const readings = readingsOf(isServed ? calls : []);
  const free = new Set([...byNamespace.keys(), ...readings.keys()]);

  function claim(ns: string): KeptTask {
    free.delete(ns);
    return openTask(ns, byNamespace.get(ns) ?? [], readings.get(ns) ?? new Map());
  }

  return {
    seed: isServed ? calls[0]?.seed : undefined,
    reads: isServed ? calls.flatMap((call) => call.reads) : [],
    taskAt(ns, names) {
      if (free.has(ns)) return claim(ns);
      for (const other of free) if (byNamespace.get(other)?.[0]?.names === names()) return claim(other);
      return undefined;
    },
  };
}

function openTask(
  ns: string,
  parts: readonly KeptPart[],
  readings: ReadonlyMap<ClockKind, readonly number[]>,
): KeptTask {
  const answers = new Map<string, KeptCall>();
  for (const call of parts) if (isCall(call)) answers.set(keyOf(call), call);
  const answered = new Set([...answers.values()].map(({ asked }) => asked));
  const last = [...answered].reduce((most, asked) => Math.max(most, asked), 0);
  for (const [key, call] of answers) if (!isGood(call) && call.asked === last) answers.delete(key);
  return {
    ns,
    readings,
    hasAnswers: () => answers.size > 0,
    take(digest, ordinal) {
      const key = keyOf({ digest, ordinal });
      const call = answers.get(key);
      answers.delete(key);
      return call;
    },
    isUnanswered: (asked) => !answered.has(asked) && parts.some((part) => part.asked === asked),
  };
}

const keyOf = ({ digest, ordinal }: Pick<KeptCall, 'digest' | 'ordinal'>): string => `${digest} ${ordinal}`;

const isGood = ({ answer, failure }: KeptCall): boolean =>
  failure === undefined && answer !== undefined && answer.status < 400;

/** An attempt that repeats a task counts on where the readings of the one before end. */
function readingsOf(calls: readonly KeptCall[]): Map<string, Map<ClockKind, number[]>> {
  const byTask = new Map<string, Map<ClockKind, number[]>>();
  for (const { readings } of calls)
    for (const [ns, clock, values] of readings) {
      let clocks = byTask.get(ns);
      if (clocks === undefined) byTask.set(ns, (clocks = new Map()));
      const known = clocks.get(clock);
      if (known === undefined) clocks.set(clock, [...values]);
      else for (const value of values) known.push(value);
    }
  return byTask;
}
