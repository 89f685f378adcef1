/**
 * One thread in memory: an actor of the thread machine, which starts with the first command that it judges, the folded
 * state, and their version.
 *
 * D2 The actor receives each event once, after its commit. Loading reads the last snapshot and at most
 * `SNAPSHOT_EVENTS` events, so it takes constant time.
 */
import type { EventLog } from '../store/port/log.ts';
import { decide, type Refusal, type ThreadCommand } from '../thread/decide.ts';
import { threadStream, type ThreadEvent } from '../thread/events.ts';
import { canAll, startMachine, type Machine } from '../thread/machine.ts';
import { earliestStart, evolve, initial, isLiving, type ThreadState } from '../thread/state.ts';
import { loadState, reloadState, type Loaded } from './aggregate.ts';

export interface ThreadActor {
  readonly stream: string;
  readonly state: ThreadState;
  readonly version: number;
  /** Decides commands in order, each on the state after the previous ones; all or none. `before` is continued. */
  decide(commands: readonly ThreadCommand[], before?: Decided & { ok: true }): Decided;
  /** Applies committed events. Throws when the machine does not allow one, which means that the log is damaged. */
  absorb(events: readonly ThreadEvent[]): void;
  stop(): void;
}

export type Decided =
  | { readonly ok: true; readonly events: readonly ThreadEvent[]; readonly after: ThreadState }
  | { readonly ok: false; readonly refusal: Refusal };

export const loadThread = (log: EventLog, threadId: string): Promise<Loaded<ThreadState>> =>
  loadState(log, threadStream(threadId), { initial, evolve });

export const loadThreadActor = async (log: EventLog, threadId: string): Promise<ThreadActor> =>
  createThreadActor(threadStream(threadId), await loadThread(log, threadId));

/** The actor of a thread that others have changed since. */
export const reloadThreadActor = async (log: EventLog, known: ThreadActor): Promise<ThreadActor> =>
  createThreadActor(known.stream, await reloadState(log, known.stream, { initial, evolve }, known));

/** Events after which a thread that does not come to rest gets a snapshot. */
const SNAPSHOT_EVENTS = 50;

/** `after`: the state that a commit of `count` events on `version` leaves, which erases texts of earlier events or not. */
export function needsSnapshot(after: ThreadState, version: number, count: number, erases: boolean): boolean {
  if (isLiving(after) && after.temporary) return false;
  const isDue = Math.floor((version + count) / SNAPSHOT_EVENTS) > Math.floor(version / SNAPSHOT_EVENTS);
  return erases || isDue || earliestStart(after) === undefined;
}

/** Creates the actor of a thread that is not in the log. */
export const newThreadActor = (threadId: string): ThreadActor =>
  createThreadActor(threadStream(threadId), { state: initial, version: 0 });

/** Only lasting threads get a started machine: its cost does not pay off for the few events of a temporary thread. */
const isLasting = (state: ThreadState): boolean => isLiving(state) && !state.temporary;

export function createThreadActor(stream: string, from: Loaded<ThreadState>): ThreadActor {
  let { state, version } = from;
  let machine: Machine | undefined;

  /** The started machine judges only the first event: uncommitted events cannot be sent to it. */
  const can = (at: ThreadState, facts: readonly ThreadEvent[]): boolean => {
    const [first, ...rest] = facts;
    if (at !== state || first === undefined) return canAll(at, facts);
    // Many threads get no command after their creation.
    if (isLasting(state)) machine ??= startMachine(state);
    if (machine === undefined) return canAll(at, facts);
    return machine.can(first) && canAll(evolve(at, first), rest);
  };

  function apply(event: ThreadEvent): void {
    if (!can(state, [event]))
      throw new Error(`${stream} version ${version + 1}: ${event.type} cannot follow "${state.status}"`);
    machine?.send(event);
    state = evolve(state, event);
    version += 1;
  }

  return {
    stream,
    get state() {
      return state;
    },
    get version() {
      return version;
    },
    decide(commands, before) {
      let events: readonly ThreadEvent[] = before?.events ?? [];
      let after = before?.after ?? state;
      for (const command of commands) {
        const decision = decide(command, after, (facts) => can(after, facts));
        if (!decision.ok) return decision;
        events = [...events, ...decision.events];
        after = decision.events.reduce(evolve, after);
      }
      return { ok: true, events, after };
    },
    absorb(events) {
      events.forEach(apply);
    },
    stop: () => machine?.stop(),
  };
}
