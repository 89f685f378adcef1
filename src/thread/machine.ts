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
import { assign, createActor, getNextSnapshot, setup, type SnapshotFrom } from 'xstate';
import type { ThreadEvent, ThreadEventMap } from './events.ts';
import { activeOf, isLiving, type ThreadState } from './state.ts';

/** A fact as XState wants it: `type` and the data side by side. */
type Fact = { [K in keyof ThreadEventMap]: { type: K; data: ThreadEventMap[K] } }[keyof ThreadEventMap];

interface Guarded {
  active: string | null;
  queue: string[];
}

const runIdOf = (event: Fact): string => ('runId' in event.data ? event.data.runId : '');

export const threadMachine = setup({
  types: { context: {} as Guarded, events: {} as Fact },
  guards: {
    /** Reject-on-busy lives here and nowhere else. */
    isAdmitted: ({ context, event }) =>
      event.type === 'RunCreated' &&
      event.data.strategy !== 'reject' &&
      context.active !== event.data.runId &&
      !context.queue.includes(event.data.runId),
    isActiveRun: ({ context, event }) => context.active === runIdOf(event),
    isLastRun: ({ context, event }) => context.active === runIdOf(event) && context.queue.length === 0,
    isQueuedRun: ({ context, event }) => context.queue.includes(runIdOf(event)),
    isOnlyQueuedRun: ({ context, event }) =>
      context.queue.length === 1 && context.queue[0] === runIdOf(event),
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

/** The machine's snapshot for a folded state: how an actor comes back without reading its history. */
export function restore(state: ThreadState): ThreadSnapshot {
  return threadMachine.resolveState({
    value: state.status,
    context: {
      active: activeOf(state)?.runId ?? null,
      queue: isLiving(state) ? state.queue.map((run) => run.runId) : [],
    },
  });
}

/** Whether these facts can happen one after the other, from this snapshot on. */
export function canAll(snapshot: ThreadSnapshot, facts: readonly ThreadEvent[]): boolean {
  let current = snapshot;
  for (const [index, fact] of facts.entries()) {
    if (!current.can(fact)) return false;
    // Advancing costs far more than asking, so the last fact is only asked about.
    if (index < facts.length - 1) current = getNextSnapshot(threadMachine, current, fact);
  }
  return true;
}

/** A live judge: `send` is the cheap way to advance a snapshot that stays in memory. */
export function createJudge(state: ThreadState): {
  can(facts: readonly ThreadEvent[]): boolean;
  send(fact: ThreadEvent): void;
  readonly value: string;
} {
  const actor = createActor(threadMachine, { snapshot: restore(state) });
  actor.start();
  return {
    can: (facts) => canAll(actor.getSnapshot(), facts),
    send: (fact) => actor.send(fact),
    get value() {
      return actor.getSnapshot().value as string;
    },
  };
}
