/**
 * One thread in memory: its folded state, its version, its judge.
 *
 * D2 Only here the machine is asked about a live thread. The snapshot of the last commit stands in for the history,
 * so coming back costs the same for a thread of one run and of ten thousand.
 */
import type { Json } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import { decide, type Refusal, type ThreadCommand } from '../thread/decide.ts';
import { threadStream, type ThreadEvent } from '../thread/events.ts';
import { evolve, initial, type ThreadState } from '../thread/state.ts';
import { createVerdicts, type Verdicts } from '../thread/verdicts.ts';

export interface ThreadActor {
  readonly stream: string;
  readonly state: ThreadState;
  readonly version: number;
  /** Decides commands one after the other as if each had happened; all or none. `before`: what was decided so far. */
  decide(commands: readonly ThreadCommand[], before?: Decided & { ok: true }): Decided;
  /** Takes in facts that are committed. Throws when the machine would not have allowed one: the log is damaged. */
  absorb(events: readonly ThreadEvent[]): void;
}

export type Decided =
  | { readonly ok: true; readonly events: readonly ThreadEvent[]; readonly after: ThreadState }
  | { readonly ok: false; readonly refusal: Refusal };

export async function loadThreadActor(
  log: EventLog,
  threadId: string,
  verdicts?: Verdicts,
): Promise<ThreadActor> {
  const stream = threadStream(threadId);
  const snapshot = await log.loadSnapshot(stream);
  return createThreadActor(
    stream,
    snapshot === undefined ? initial : (snapshot.state as Json as unknown as ThreadState),
    snapshot?.version ?? 0,
    verdicts,
  );
}

/** Of a thread that is not in the log. */
export const newThreadActor = (threadId: string, verdicts?: Verdicts): ThreadActor =>
  createThreadActor(threadStream(threadId), initial, 0, verdicts);

export function createThreadActor(
  stream: string,
  from: ThreadState,
  at: number,
  verdicts: Verdicts = createVerdicts(),
): ThreadActor {
  let state = from;
  let version = at;
  return {
    stream,
    get state() {
      return state;
    },
    get version() {
      return version;
    },
    decide(commands, before) {
      const events: ThreadEvent[] = [...(before?.events ?? [])];
      let after = before?.after ?? state;
      for (const command of commands) {
        // The facts before were judged already, and `after` is what they led to.
        const decision = decide(command, after, (facts) => verdicts.can(after, facts));
        if (!decision.ok) return decision;
        events.push(...decision.events);
        after = decision.events.reduce(evolve, after);
      }
      return { ok: true, events, after };
    },
    absorb(events) {
      for (const event of events) {
        if (!verdicts.can(state, [event]))
          throw new Error(`${stream} version ${version + 1}: ${event.type} cannot follow "${state.status}"`);
        state = evolve(state, event);
        version += 1;
      }
    },
  };
}
