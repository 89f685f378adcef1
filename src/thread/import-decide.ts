/** Decides the commands of an import: events of an exported thread in order, then the end of its arrival. */
import { endAll } from './end-facts.ts';
import type { ThreadEvent, ThreadEventMap } from './events.ts';
import { stopReason } from './run-end.ts';
import { activeOf, evolve, isLiving, type ThreadState } from './state.ts';

export type ImportCommand =
  /**
   * The first ones create the thread, `arriving`. `isLast`: runs that are open after them end here, because no process
   * executes them.
   */
  | { type: 'ImportEvents'; events: readonly ThreadEvent[]; isLast: boolean }
  | ({ type: 'FinishImport' } & Omit<ThreadEventMap['ThreadImported'], 'past'>);

type Can = (facts: readonly ThreadEvent[]) => boolean;

/** Returns the events, or the code of the refusal. */
export function decideImport(
  command: ImportCommand,
  state: ThreadState,
  can: Can,
): readonly ThreadEvent[] | 'thread-exists' | 'thread-changed' {
  const isArriving = isLiving(state) && state.arriving === true;
  if (command.type === 'FinishImport') {
    const { type: _, ...data } = command;
    const fact: ThreadEvent = { type: 'ThreadImported', data };
    return isArriving && can([fact]) ? [fact] : 'thread-changed';
  }
  if (isLiving(state) && !isArriving) return 'thread-exists';
  const { events, isLast } = command;
  const facts = isLast ? [...events, ...endsOf(events.reduce(evolve, state))] : events;
  return can(facts) ? facts : 'thread-changed';
}

/** Queued runs end first: they would be due as soon as the active run has ended. */
function endsOf(state: ThreadState): ThreadEvent[] {
  if (!isLiving(state)) return [];
  const active = activeOf(state);
  const open = active === undefined ? state.queue : [...state.queue, active];
  return endAll(state, open, { kind: 'cancelled', reason: stopReason.imported });
}
