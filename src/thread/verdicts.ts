/**
 * The machine's verdicts, each asked for once. Its guards see no more of a thread than this: its status, whether the
 * fact's run is the active one or waits, whether none, one or more wait, and whether the fact asks to be rejected. Two
 * threads that are alike in this get the same verdict, so what the machine said of the first is known of the second.
 *
 * X1 X3 The machine stays the only judge: nothing here knows which fact may follow which.
 */
import type { ThreadEvent } from './events.ts';
import { canAll, restore } from './machine.ts';
import { activeOf, evolve, isLiving, type ThreadState } from './state.ts';

export interface Verdicts {
  /** Whether these facts can happen to a thread in this state, one after the other. */
  can(state: ThreadState, facts: readonly ThreadEvent[]): boolean;
}

export function createVerdicts(): Verdicts {
  const known = new Map<string, boolean>();
  const canOne = (state: ThreadState, fact: ThreadEvent): boolean => {
    const sight = toSight(state, fact);
    let verdict = known.get(sight);
    if (verdict === undefined) known.set(sight, (verdict = canAll(restore(state), [fact])));
    return verdict;
  };
  return {
    can(state, facts) {
      let current = state;
      for (const fact of facts) {
        if (!canOne(current, fact)) return false;
        current = evolve(current, fact);
      }
      return true;
    },
  };
}

/** What the guards of `machine.ts` look at: one that looks at more has to be told here. */
function toSight(state: ThreadState, fact: ThreadEvent): string {
  const runId = 'runId' in fact.data ? fact.data.runId : '';
  const queue = isLiving(state) ? state.queue : [];
  const place = activeOf(state)?.runId === runId ? 'active' : queue.some((run) => run.runId === runId);
  const rejects = fact.type === 'RunCreated' && fact.data.strategy === 'reject';
  return `${state.status} ${fact.type} ${place} ${Math.min(queue.length, 2)} ${rejects}`;
}
