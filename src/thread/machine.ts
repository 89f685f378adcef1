/**
 * The XState machine of a thread: decides which event can happen next. Live operation and replay use the same code.
 *
 * X1 A run starts only while no other run executes. X3 A run that is neither queued nor active cannot complete again.
 * D2 Only the thread actor and folds in replay or tests send events here.
 *
 * No invoke, no timers, no effectful actions: restoring a snapshot must start nothing. Context holds only what guards
 * read. An edge that changes nothing targets its own state, else `can()` denies it.
 *
 *   absent   --ThreadCreated, ThreadCopied-->  idle
 *   idle     --RunCreated-->     queued    --RunStarted-->  running  --RunCancelRequested-->  stopping
 *   running, stopping  --RunCompleted-->  idle, or queued while others wait
 *   stopping --RunCancelRequested-->  stopping  (an interrupt becomes a rollback)
 *   running, stopping  --RunBegun, CheckpointSaved-->  same state
 *   running  --RunRequeued-->    queued    (its process died, or the server shuts down)
 *   idle     --StateUpdated-->   idle      (only between runs, so a run and a client never write the state together)
 *   idle     --RunDeleted, ThreadPruned-->  idle    (no open run may need the deleted checkpoints)
 *   idle     --ThreadImported--> idle      (all events before it come from a file)
 *   idle     --ThreadDeleted-->  deleted   --ThreadCreated-->  idle
 */
import { assign, createActor, setup, type SnapshotFrom } from 'xstate';
import type { ThreadEvent, ThreadEventMap } from './events.ts';
import { activeOf, evolve, isLiving, type ThreadState } from './state.ts';

/** An event in XState's form: `type` beside the data. */
type Fact = { [K in keyof ThreadEventMap]: { type: K; data: ThreadEventMap[K] } }[keyof ThreadEventMap];

interface Runs {
  active: string | null;
  queue: readonly string[];
}

/** The only input of guards, so threads with equal input get equal verdicts. */
interface GuardInput {
  /** Role of the event's run in the thread. */
  readonly role: 'active' | 'queued' | 'none';
  readonly queued: 'none' | 'one' | 'several';
  readonly rejects: boolean;
}

const runIdOf = (event: ThreadEvent): string => ('runId' in event.data ? event.data.runId : '');

function guardInputOf({ active, queue }: Runs, event: ThreadEvent): GuardInput {
  const runId = runIdOf(event);
  return {
    role: active === runId ? 'active' : queue.includes(runId) ? 'queued' : 'none',
    queued: queue.length === 0 ? 'none' : queue.length === 1 ? 'one' : 'several',
    rejects: event.type === 'RunCreated' && event.data.strategy === 'reject',
  };
}

const guard =
  (holds: (input: GuardInput) => boolean) =>
  ({ context, event }: { context: Runs; event: Fact }): boolean =>
    holds(guardInputOf(context, event));

const CREATION = { ThreadCreated: 'idle', ThreadCopied: 'idle' } as const;

export const threadMachine = setup({
  types: { context: {} as Runs, events: {} as Fact },
  guards: {
    /** The only check for reject-on-busy. */
    isAdmitted: guard(({ role, rejects }) => role === 'none' && !rejects),
    isActiveRun: guard(({ role }) => role === 'active'),
    isLastRun: guard(({ role, queued }) => role === 'active' && queued === 'none'),
    isQueuedRun: guard(({ role }) => role === 'queued'),
    isOnlyQueuedRun: guard(({ role, queued }) => role === 'queued' && queued === 'one'),
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
    absent: { on: CREATION },
    idle: {
      on: {
        ThreadUpdated: 'idle',
        StateUpdated: 'idle',
        ThreadImported: 'idle',
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
    // A deleted thread's id can be reused: the tombstone precedes the new thread's events in the stream.
    deleted: { on: CREATION },
  },
});

export type ThreadSnapshot = SnapshotFrom<typeof threadMachine>;

const runsOf = (state: ThreadState): Runs => ({
  active: activeOf(state)?.runId ?? null,
  queue: isLiving(state) ? state.queue.map((run) => run.runId) : [],
});

/** Builds the machine's snapshot from a folded state, so no history is read. */
export const restore = (state: ThreadState): ThreadSnapshot =>
  threadMachine.resolveState({ value: state.status, context: runsOf(state) });

/**
 * Memo of a pure function: whether the machine allows an event type in a state, given the guards' input. It holds no
 * state of a thread or server, so all servers of a process share it. At most about 1,000 entries.
 */
const verdicts = new Map<string, boolean>();

function can(value: ThreadState['status'], runs: Runs, fact: ThreadEvent): boolean {
  const { role, queued, rejects } = guardInputOf(runs, fact);
  const key = `${value} ${fact.type} ${role} ${queued} ${rejects}`;
  let verdict = verdicts.get(key);
  if (verdict === undefined) {
    verdict = threadMachine.resolveState({ value, context: runs }).can(fact);
    verdicts.set(key, verdict);
  }
  return verdict;
}

/** Tells whether these events can happen in this order to a thread in this state. */
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
