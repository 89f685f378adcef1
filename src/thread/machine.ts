/**
 * The judge of a thread's life: which fact can happen next. Its inputs are facts, so live and replay run the same code.
 *
 * X1 A run starts only when none executes. X3 A run that is neither queued nor active cannot complete again.
 * D2 Only the thread actor (and a fold in replay or tests) sends events here.
 *
 * No invoke, no timers, no effectful actions: restoring a snapshot must start nothing. Context holds only what guards
 * read. An edge that changes nothing names its own state as target, else `can()` would deny it.
 *
 *   absent   --ThreadCreated, ThreadCopied-->  idle
 *   idle     --RunCreated-->     queued    --RunStarted-->  running  --RunCancelRequested-->  stopping
 *   running, stopping  --RunCompleted-->  idle, or queued while others wait
 *   stopping --RunCancelRequested-->  stopping  (an interrupt becomes a rollback)
 *   running, stopping  --RunBegun, CheckpointSaved-->  as before
 *   running  --RunRequeued-->    queued    (lost with its process, or handed back at shutdown)
 *   idle     --StateUpdated-->   idle      (only between runs: they and a client never write the state together)
 *   idle     --RunDeleted, ThreadPruned-->  idle    (no run is open that could lean on what goes)
 *   idle     --ThreadDeleted-->  deleted   --ThreadCreated-->  idle
 */
import { assign, createActor, setup, type SnapshotFrom } from 'xstate';
import type { ThreadEvent, ThreadEventMap } from './events.ts';
import { activeOf, evolve, isLiving, type ThreadState } from './state.ts';

/** A fact as XState wants it: `type` and the data side by side. */
type Fact = { [K in keyof ThreadEventMap]: { type: K; data: ThreadEventMap[K] } }[keyof ThreadEventMap];

interface Runs {
  active: string | null;
  queue: readonly string[];
}

/** All that guards read of a thread and a fact. */
interface Sight {
  /** The place of the fact's run in the thread. */
  readonly place: 'active' | 'queued' | 'none';
  readonly queued: 'none' | 'one' | 'several';
  readonly rejects: boolean;
}

const runIdOf = (event: ThreadEvent): string => ('runId' in event.data ? event.data.runId : '');

function look({ active, queue }: Runs, event: ThreadEvent): Sight {
  const runId = runIdOf(event);
  return {
    place: active === runId ? 'active' : queue.includes(runId) ? 'queued' : 'none',
    queued: queue.length === 0 ? 'none' : queue.length === 1 ? 'one' : 'several',
    rejects: event.type === 'RunCreated' && event.data.strategy === 'reject',
  };
}

/** Guards see nothing but the sight, so two threads that look alike get the same verdict. */
const guard =
  (holds: (sight: Sight) => boolean) =>
  ({ context, event }: { context: Runs; event: Fact }): boolean =>
    holds(look(context, event));

export const threadMachine = setup({
  types: { context: {} as Runs, events: {} as Fact },
  guards: {
    /** Reject-on-busy lives here and nowhere else. */
    isAdmitted: guard(({ place, rejects }) => place === 'none' && !rejects),
    isActiveRun: guard(({ place }) => place === 'active'),
    isLastRun: guard(({ place, queued }) => place === 'active' && queued === 'none'),
    isQueuedRun: guard(({ place }) => place === 'queued'),
    isOnlyQueuedRun: guard(({ place, queued }) => place === 'queued' && queued === 'one'),
  },
  actions: {
    enqueue: assign({ queue: ({ context, event }) => [...context.queue, runIdOf(event)] }),
    activate: assign({
      active: ({ event }) => runIdOf(event),
      queue: ({ context, event }) => context.queue.filter((id) => id !== runIdOf(event)),
    }),
    requeue: assign({
      active: null,
      queue: ({ context, event }) => [runIdOf(event), ...context.queue],
    }),
    release: assign({ active: null }),
    drop: assign({ queue: ({ context, event }) => context.queue.filter((id) => id !== runIdOf(event)) }),
  },
}).createMachine({
  id: 'thread',
  initial: 'absent',
  context: { active: null, queue: [] },
  states: {
    absent: { on: { ThreadCreated: 'idle', ThreadCopied: 'idle' } },
    idle: {
      on: {
        ThreadUpdated: 'idle',
        StateUpdated: 'idle',
        RunCreated: { target: 'queued', actions: 'enqueue' },
        RunDeleted: 'idle',
        ThreadPruned: 'idle',
        ThreadDeleted: 'deleted',
      },
    },
    queued: {
      on: {
        ThreadUpdated: 'queued',
        RunCreated: { guard: 'isAdmitted', target: 'queued', actions: 'enqueue' },
        RunStarted: { guard: 'isQueuedRun', target: 'running', actions: 'activate' },
        RunCompleted: [
          { guard: 'isOnlyQueuedRun', target: 'idle', actions: 'drop' },
          { guard: 'isQueuedRun', target: 'queued', actions: 'drop' },
        ],
      },
    },
    running: {
      on: {
        ThreadUpdated: 'running',
        RunCreated: { guard: 'isAdmitted', target: 'running', actions: 'enqueue' },
        RunBegun: { guard: 'isActiveRun', target: 'running' },
        CheckpointSaved: { guard: 'isActiveRun', target: 'running' },
        RunCancelRequested: { guard: 'isActiveRun', target: 'stopping' },
        RunRequeued: { guard: 'isActiveRun', target: 'queued', actions: 'requeue' },
        RunCompleted: [
          { guard: 'isLastRun', target: 'idle', actions: 'release' },
          { guard: 'isActiveRun', target: 'queued', actions: 'release' },
          { guard: 'isQueuedRun', target: 'running', actions: 'drop' },
        ],
      },
    },
    stopping: {
      on: {
        ThreadUpdated: 'stopping',
        RunCreated: { guard: 'isAdmitted', target: 'stopping', actions: 'enqueue' },
        RunBegun: { guard: 'isActiveRun', target: 'stopping' },
        CheckpointSaved: { guard: 'isActiveRun', target: 'stopping' },
        RunCancelRequested: { guard: 'isActiveRun', target: 'stopping' },
        RunCompleted: [
          { guard: 'isLastRun', target: 'idle', actions: 'release' },
          { guard: 'isActiveRun', target: 'queued', actions: 'release' },
          { guard: 'isQueuedRun', target: 'stopping', actions: 'drop' },
        ],
      },
    },
    // Whoever chose the id may use it again: the tombstone stays in front of the new life.
    deleted: { on: { ThreadCreated: 'idle', ThreadCopied: 'idle' } },
  },
});

export type ThreadSnapshot = SnapshotFrom<typeof threadMachine>;

const runsOf = (state: ThreadState): Runs => ({
  active: activeOf(state)?.runId ?? null,
  queue: isLiving(state) ? state.queue.map((run) => run.runId) : [],
});

/** The machine's snapshot for a folded state: an actor comes back without reading its history. */
export const restore = (state: ThreadState): ThreadSnapshot =>
  threadMachine.resolveState({ value: state.status, context: runsOf(state) });

/** The machine's verdicts by state, fact and sight: about 500 at most, and true for every thread of every server. */
const verdicts = new Map<string, boolean>();

function can(value: ThreadState['status'], runs: Runs, fact: ThreadEvent): boolean {
  const { place, queued, rejects } = look(runs, fact);
  const key = `${value} ${fact.type} ${place} ${queued} ${rejects}`;
  let verdict = verdicts.get(key);
  if (verdict === undefined) {
    verdict = threadMachine.resolveState({ value, context: runs }).can(fact);
    verdicts.set(key, verdict);
  }
  return verdict;
}

/** Whether these facts can happen to a thread in this state, one after the other. */
export function canAll(state: ThreadState, facts: readonly ThreadEvent[]): boolean {
  let current = state;
  return facts.every((fact) => {
    const isPossible = can(current.status, runsOf(current), fact);
    if (isPossible) current = evolve(current, fact);
    return isPossible;
  });
}

/** A started actor of the thread machine. */
export interface Machine {
  can(fact: ThreadEvent): boolean;
  send(fact: ThreadEvent): void;
  readonly value: ThreadState['status'];
  stop(): void;
}

export function startMachine(state: ThreadState): Machine {
  const actor = createActor(threadMachine, { snapshot: restore(state) }).start();
  const valueOf = () => actor.getSnapshot().value as ThreadState['status'];
  return {
    can: (fact) => can(valueOf(), actor.getSnapshot().context, fact),
    send: (fact) => actor.send(fact),
    get value() {
      return valueOf();
    },
    stop: () => void actor.stop(),
  };
}
