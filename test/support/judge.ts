/** The thread machine as XState itself runs it, without what the server remembers of its verdicts. */
import { createActor, getNextSnapshot } from 'xstate';
import type { ThreadEvent } from '../../src/thread/events.ts';
import { restore, threadMachine, type ThreadSnapshot } from '../../src/thread/machine.ts';
import type { ThreadState } from '../../src/thread/state.ts';

export interface Judge {
  /** Whether these facts can happen one after the other. */
  can(facts: readonly ThreadEvent[]): boolean;
  send(fact: ThreadEvent): void;
  readonly value: string;
}

export function createJudge(state: ThreadState): Judge {
  const actor = createActor(threadMachine, { snapshot: restore(state) }).start();
  return {
    can(facts) {
      let current: ThreadSnapshot = actor.getSnapshot();
      return facts.every((fact) => {
        const isPossible = current.can(fact);
        if (isPossible) current = getNextSnapshot(threadMachine, current, fact);
        return isPossible;
      });
    },
    send: (fact) => actor.send(fact),
    get value() {
      return actor.getSnapshot().value as string;
    },
  };
}
