/** Decides the import of an exported thread: all its events in order, and one that says where they come from. */
import { endAll } from './end-facts.ts';
import type { ThreadEvent, ThreadEventMap } from './events.ts';
import { stopReason } from './run-end.ts';
import { activeOf, evolve, isLiving, type ThreadState } from './state.ts';

export type ImportCommand = {
  type: 'ImportThread';
  events: readonly ThreadEvent[];
} & ThreadEventMap['ThreadImported'];

type Can = (facts: readonly ThreadEvent[]) => boolean;

/** Returns the events, or the code of the refusal. */
export function decideImport(
  { type: _, events, ...data }: ImportCommand,
  state: ThreadState,
  can: Can,
): readonly ThreadEvent[] | 'thread-exists' | 'thread-changed' {
  if (isLiving(state)) return 'thread-exists';
  const ends = importEnds(events.reduce(evolve, state));
  const facts: ThreadEvent[] = [...events, ...ends, { type: 'ThreadImported', data }];
  return can(facts) ? facts : 'thread-changed';
}

/**
 * The ends of runs that are open in the file, because no process executes them. Queued runs end first: they would be due
 * as soon as the active run has ended.
 */
export function importEnds(state: ThreadState): ThreadEvent[] {
  if (!isLiving(state)) return [];
  const active = activeOf(state);
  const open = active === undefined ? state.queue : [...state.queue, active];
  return endAll(state, open, { kind: 'cancelled', reason: stopReason.imported });
}
