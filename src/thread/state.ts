/** What decisions about a thread need to know, folded from its facts. Plain JSON: it is stored as the snapshot. */
import type { JsonObject } from '../kernel/json.ts';
import type { CancelAction, Stop, ThreadEvent, Ttl } from './events.ts';
import { isSuspect, type Account, type OpenRun } from './fault.ts';
import { stopOf } from './run-end.ts';

/** An account without deaths or charges has no members. */
export interface QueuedRun extends Partial<Account> {
  readonly runId: string;
  /** Attempts so far, and how many of them were lost with their process after they had begun. */
  readonly attempt: number;
  readonly lost: number;
  /** The thread's head before the run's first attempt: where a rollback returns to. */
  readonly base: string | null;
  /** Its root graph has saved a checkpoint, so the next attempt continues instead of beginning. */
  readonly checkpointed: boolean;
}

export interface ActiveRun extends QueuedRun {
  readonly leaseId: string;
  readonly incarnation?: string;
  /** Graph code of this attempt may have started; the first attempt has no such mark. */
  readonly begun?: true;
  /** This attempt has saved the end of a step. */
  readonly saved?: true;
}

interface Life {
  readonly threadId: string;
  readonly metadata: JsonObject;
  readonly temporary: boolean;
  /** Head checkpoint of the root namespace. */
  readonly head: string | null;
  readonly queue: readonly QueuedRun[];
  readonly ttl?: Ttl;
}

export type ThreadState =
  | { readonly status: 'absent' }
  | ({ readonly status: 'idle' } & Life)
  | ({ readonly status: 'queued' } & Life)
  | ({ readonly status: 'running'; readonly active: ActiveRun } & Life)
  | ({
      readonly status: 'stopping';
      readonly active: ActiveRun;
      readonly action: CancelAction;
    } & Stop &
      Life)
  | { readonly status: 'deleted'; readonly threadId: string };

export type LivingThread = Exclude<ThreadState, { status: 'absent' | 'deleted' }>;

export const isLiving = (state: ThreadState): state is LivingThread =>
  state.status !== 'absent' && state.status !== 'deleted';

export const initial: ThreadState = { status: 'absent' };

/** Total and pure: whether a fact can happen is the machine's business, what it means is told here. */
export function evolve(state: ThreadState, event: ThreadEvent): ThreadState {
  if (event.type === 'ThreadCreated') {
    const { threadId, metadata, temporary, ttl } = event.data;
    return { status: 'idle', threadId, metadata, temporary, head: null, queue: [], ...(ttl && { ttl }) };
  }
  if (event.type === 'ThreadCopied') {
    const { threadId, metadata, head, ttl } = event.data;
    return { status: 'idle', threadId, metadata, temporary: false, head, queue: [], ...(ttl && { ttl }) };
  }
  if (event.type === 'ThreadDeleted') return { status: 'deleted', threadId: event.data.threadId };
  if (!isLiving(state)) return state;
  switch (event.type) {
    case 'ThreadUpdated':
      return { ...state, metadata: event.data.metadata, ...(event.data.ttl && { ttl: event.data.ttl }) };
    case 'ThreadPruned':
      return state;
    case 'RunDeleted':
      return { ...state, head: event.data.head };
    case 'RunCreated': {
      const run = { runId: event.data.runId, attempt: 0, lost: 0, base: null, checkpointed: false };
      const grown = { ...state, metadata: event.data.threadMetadata, queue: [...state.queue, run] };
      return grown.status === 'idle' ? { ...grown, status: 'queued' } : grown;
    }
    case 'RunStarted': {
      const { runId, attempt, leaseId, incarnation } = event.data;
      const run = state.queue.find((queued) => queued.runId === runId);
      if (run === undefined) return state;
      const base = run.attempt === 0 ? state.head : run.base;
      const queue = state.queue.filter((queued) => queued !== run);
      const holder = incarnation === undefined ? { leaseId } : { leaseId, incarnation };
      return { status: 'running', active: { ...holder, ...run, attempt, base }, ...lifeOf(state), queue };
    }
    case 'RunBegun': {
      const active = activeOf(state);
      return active === undefined ? state : ({ ...state, active: { begun: true, ...active } } as ThreadState);
    }
    case 'RunRequeued': {
      const active = activeOf(state);
      if (active === undefined) return state;
      const { runId, attempt, base, checkpointed } = active;
      const { deaths, charges } = event.data;
      const lost = active.lost + (event.data.lost ? 1 : 0);
      const account = { ...(deaths > 0 && { deaths }), ...(charges > 0 && { charges }) };
      const run: QueuedRun = { ...account, runId, attempt, lost, base, checkpointed };
      return { status: 'queued', ...lifeOf(state), queue: [run, ...state.queue] };
    }
    case 'RunCancelRequested':
      return state.status === 'running' || state.status === 'stopping'
        ? { ...state, status: 'stopping', action: event.data.action, ...stopOf(event.data) }
        : state;
    case 'CheckpointSaved': {
      const found = activeOf(state);
      if (found === undefined) return state;
      const { ns, checkpointId } = event.data;
      const active = isStepEnd(event.data) ? withoutAccount(found) : found;
      // A subgraph may save while its node works, or asks: what the run was given is not in the root graph's state yet.
      if (ns !== '') return active === found ? state : ({ ...state, active } as ThreadState);
      return { ...state, head: checkpointId, active: { ...active, checkpointed: true } } as ThreadState;
    }
    case 'StateUpdated':
      return { ...state, head: event.data.head };
    case 'RunCompleted':
      return settle(state, event.data.runId, event.data.head);
  }
}

function settle(state: LivingThread, runId: string, head: string | null): ThreadState {
  if (activeOf(state)?.runId !== runId) {
    const queue = state.queue.filter((queued) => queued.runId !== runId);
    return state.status === 'queued' && queue.length === 0
      ? { status: 'idle', ...lifeOf(state), queue, head }
      : { ...state, queue, head };
  }
  return { status: state.queue.length === 0 ? 'idle' : 'queued', ...lifeOf(state), head };
}

/** Only the end of a step is progress: each attempt that begins anew saves its input again. */
export const isStepEnd = ({ source }: { readonly source: string }): boolean => source === 'loop';

function withoutAccount(active: ActiveRun): ActiveRun {
  if (active.saved && active.deaths === undefined && active.charges === undefined) return active;
  const { deaths: _, charges: __, ...run } = active;
  return { saved: true, ...run };
}

export const accountOf = ({ deaths = 0, charges = 0 }: QueuedRun): Account => ({ deaths, charges });

/** The active run as its process has it. A first attempt counts as begun, which alone charges no run. */
export const openIn = (active: ActiveRun): OpenRun => ({
  begun: active.begun === true || active.attempt === 1,
  saved: active.saved === true,
  suspect: isSuspect(accountOf(active)),
});

/** The run that executes now, if any. */
export const activeOf = (state: ThreadState): ActiveRun | undefined =>
  state.status === 'running' || state.status === 'stopping' ? state.active : undefined;

/** The run, whether it waits or executes. */
export function openRun(state: ThreadState, runId: string): QueuedRun | undefined {
  if (!isLiving(state)) return undefined;
  const active = activeOf(state);
  return active?.runId === runId ? active : state.queue.find((queued) => queued.runId === runId);
}

/** New names come before what is spread, here and above: V8 takes microseconds to add one to a copy. */
const lifeOf = ({ threadId, metadata, temporary, head, queue, ttl }: LivingThread): Life => ({
  threadId,
  metadata,
  temporary,
  head,
  queue,
  ...(ttl && { ttl }),
});
