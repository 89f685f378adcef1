/** The state that thread decisions need, folded from events. Plain JSON: it is stored as the stream's snapshot. */
import type { JsonObject } from '../kernel/json.ts';
import { carrierAfter } from './carrier.ts';
import type { CancelAction, Keep, Stop, ThreadEvent, Ttl } from './events.ts';
import type { Account } from './fault.ts';
import { stopOf } from './run-end.ts';
import type { Usage } from './usage.ts';

/** An account without deaths or charges has no members. */
export interface QueuedRun extends Partial<Account> {
  readonly runId: string;
  /** Attempts so far. */
  readonly attempt: number;
  /** Head checkpoint before the run's first attempt; a rollback returns to it. */
  readonly base: string | null;
  /** The root graph has saved a checkpoint, so the next attempt continues from there. */
  readonly checkpointed: boolean;
  /** Milliseconds since 1970; absent for a run without a delay, and from its first attempt on. */
  readonly notBefore?: number;
  /** Up to the last saved step of the root graph. */
  readonly usage?: Usage;
}

export interface ActiveRun extends QueuedRun {
  readonly leaseId: string;
  readonly incarnation?: string;
  /** Graph code of this attempt may have started. Not set for first attempts, which always count as begun. */
  readonly begun?: true;
  /** This attempt has saved the end of a step. */
  readonly saved?: true;
}

interface LivingFields {
  readonly threadId: string;
  readonly metadata: JsonObject;
  readonly temporary: boolean;
  /** Of a temporary thread: the run whose row carries it; null once the thread has a row of its own. */
  readonly carrier?: string | null;
  /** Head checkpoint of the root namespace. */
  readonly head: string | null;
  readonly queue: readonly QueuedRun[];
  readonly ttl?: Ttl;
  /** `runId`: the run that gave it; deleting that run deletes the title. Null when pruning or a copy kept the title. */
  readonly title?: { readonly text: string; readonly runId: string | null };
}

export type ThreadState =
  | { readonly status: 'absent' }
  | ({ readonly status: 'idle' } & LivingFields)
  | ({ readonly status: 'queued' } & LivingFields)
  | ({ readonly status: 'running'; readonly active: ActiveRun } & LivingFields)
  | ({
      readonly status: 'stopping';
      readonly active: ActiveRun;
      readonly action: CancelAction;
      readonly keep?: Keep;
    } & Stop &
      LivingFields)
  | { readonly status: 'deleted'; readonly threadId: string };

export type LivingThread = Exclude<ThreadState, { status: 'absent' | 'deleted' }>;

export const isLiving = (state: ThreadState): state is LivingThread =>
  state.status !== 'absent' && state.status !== 'deleted';

export const initial: ThreadState = { status: 'absent' };

/** Total and pure: the thread machine decides whether an event can happen, `evolve` only applies it. */
export function evolve(state: ThreadState, event: ThreadEvent): ThreadState {
  if (event.type === 'ThreadCreated') {
    const { threadId, metadata, temporary, ttl } = event.data;
    const more = optionalFieldsOf({ ttl });
    return { status: 'idle', threadId, metadata, temporary, head: null, queue: [], ...more };
  }
  if (event.type === 'ThreadCopied') {
    const { threadId, metadata, head, ttl, title: text } = event.data;
    const title = text === undefined ? undefined : { text, runId: null };
    const more = optionalFieldsOf({ ttl, title });
    return { status: 'idle', threadId, metadata, temporary: false, head, queue: [], ...more };
  }
  if (event.type === 'ThreadDeleted') return { status: 'deleted', threadId: event.data.threadId };
  if (!isLiving(state)) return state;
  const next = apply(state, event);
  const carrier = carrierAfter(event);
  return carrier === undefined || carrier === state.carrier ? next : ({ ...next, carrier } as ThreadState);
}

function apply(state: LivingThread, event: ThreadEvent): ThreadState {
  switch (event.type) {
    case 'ThreadUpdated':
      return { ...state, metadata: event.data.metadata, ...(event.data.ttl && { ttl: event.data.ttl }) };
    case 'ThreadImported': {
      const { metadata, ttl } = event.data;
      const { ttl: _, ...rest } = state;
      return { ...rest, metadata, ...(ttl && { ttl }) } as ThreadState;
    }
    case 'RunDeleted':
      return untitled({ ...state, head: event.data.head }, event.data.runId);
    case 'ThreadPruned': {
      const { title: text } = event.data;
      return text === undefined ? state : { ...state, title: { text, runId: null } };
    }
    case 'RunCreated': {
      const { runId, notBefore } = event.data;
      const run: QueuedRun = { runId, attempt: 0, base: null, checkpointed: false };
      if (notBefore > 0) Object.assign(run, { notBefore });
      const grown = { ...state, metadata: event.data.threadMetadata, queue: [...state.queue, run] };
      const { title: text } = event.data;
      if (text !== undefined) Object.assign(grown, { title: { text, runId: run.runId } });
      return grown.status === 'idle' ? { ...grown, status: 'queued' } : grown;
    }
    case 'RunStarted': {
      const { runId, attempt, leaseId, incarnation } = event.data;
      const found = state.queue.find((queued) => queued.runId === runId);
      if (found === undefined) return state;
      const { notBefore: _, ...run } = found;
      const base = run.attempt === 0 ? state.head : run.base;
      const queue = state.queue.filter((queued) => queued !== found);
      const holder = incarnation === undefined ? { leaseId } : { leaseId, incarnation };
      return {
        status: 'running',
        active: { ...holder, ...run, attempt, base },
        ...livingFieldsOf(state),
        queue,
      };
    }
    case 'RunBegun': {
      const active = activeOf(state);
      return active === undefined ? state : ({ ...state, active: { begun: true, ...active } } as ThreadState);
    }
    case 'RunRequeued': {
      const active = activeOf(state);
      if (active === undefined) return state;
      const { runId, attempt, base, checkpointed, usage } = active;
      const { deaths, charges, missing } = event.data;
      const account = {
        ...(deaths > 0 && { deaths }),
        ...(charges > 0 && { charges }),
        ...(missing !== undefined && { missing }),
      };
      const run: QueuedRun = { ...account, runId, attempt, base, checkpointed, ...(usage && { usage }) };
      return { status: 'queued', ...livingFieldsOf(state), queue: [run, ...state.queue] };
    }
    case 'RunCancelRequested': {
      if (state.status !== 'running' && state.status !== 'stopping') return state;
      const { action, keep } = event.data;
      return { ...state, status: 'stopping', action, ...(keep && { keep }), ...stopOf(event.data) };
    }
    case 'CheckpointSaved': {
      const found = activeOf(state);
      if (found === undefined) return state;
      const { ns, checkpointId, usage } = event.data;
      const active = isStepEnd(event.data) ? withoutAccount(found) : found;
      // A subgraph may save in mid-node, when the root graph's state does not hold the run's input yet.
      if (ns !== '') return active === found ? state : ({ ...state, active } as ThreadState);
      const run = { ...active, checkpointed: true, ...(usage && { usage }) };
      return { ...state, head: checkpointId, active: run } as ThreadState;
    }
    case 'StateUpdated':
      return { ...state, head: event.data.head };
    case 'RunCompleted': {
      const { runId, head, outcome } = event.data;
      const settled = settle(state, runId, head);
      return outcome.kind === 'rolled-back' ? untitled(settled, runId) : settled;
    }
    default:
      // Every other event changes rows alone.
      return state;
  }
}

function untitled(state: LivingThread, goneRun: string): LivingThread {
  if (state.title === undefined || state.title.runId !== goneRun) return state;
  const { title: _, ...rest } = state;
  return rest;
}

function settle(state: LivingThread, runId: string, head: string | null): LivingThread {
  if (activeOf(state)?.runId !== runId) {
    const queue = state.queue.filter((queued) => queued.runId !== runId);
    return state.status === 'queued' && queue.length === 0
      ? { status: 'idle', ...livingFieldsOf(state), queue, head }
      : { ...state, queue, head };
  }
  return { status: state.queue.length === 0 ? 'idle' : 'queued', ...livingFieldsOf(state), head };
}

/** Only the end of a step is progress: every attempt that starts over saves its input again. */
export const isStepEnd = ({ source }: { readonly source: string }): boolean => source === 'loop';

function withoutAccount(active: ActiveRun): ActiveRun {
  const { deaths, charges, missing, ...run } = active;
  if (active.saved && (deaths ?? charges ?? missing) === undefined) return active;
  return { saved: true, ...run };
}

export const accountOf = ({ deaths = 0, charges = 0, missing }: QueuedRun): Account => ({
  ...{ deaths, charges },
  ...(missing !== undefined && { missing }),
});

/** Graph code of the attempt may have begun. A first attempt has no mark of it and always counts as begun. */
export const hasBegun = ({ begun, attempt }: ActiveRun): boolean => begun === true || attempt === 1;

export const activeOf = (state: ThreadState): ActiveRun | undefined =>
  state.status === 'running' || state.status === 'stopping' ? state.active : undefined;

/**
 * The earliest start that the thread's runs allow: null while one executes, undefined without open runs, 0 for a run that
 * has begun. A run without a delay allows any time.
 */
export function earliestStart(state: ThreadState): number | null | undefined {
  if (activeOf(state) !== undefined) return null;
  if (!isLiving(state) || state.queue.length === 0) return undefined;
  if (state.queue[0]!.attempt > 0) return 0;
  return state.queue.reduce((earliest, { notBefore = 1 }) => Math.min(earliest, notBefore), Infinity);
}

export const openRunIds = (state: ThreadState): string[] =>
  isLiving(state) ? [activeOf(state)?.runId ?? [], ...state.queue.map(({ runId }) => runId)].flat() : [];

/** A new run is refused unless this is the thread's head checkpoint and these are its open runs. */
export interface Placement {
  readonly ifHead?: string | null | undefined;
  readonly ifOpen?: readonly string[] | undefined;
}

export const isPlaced = (state: LivingThread, { ifHead, ifOpen }: Placement): boolean =>
  (ifHead === undefined || state.head === ifHead) &&
  (ifOpen === undefined || openRunIds(state).join() === ifOpen.join());

/** Finds a queued or active run. */
export function openRun(state: ThreadState, runId: string): QueuedRun | undefined {
  if (!isLiving(state)) return undefined;
  const active = activeOf(state);
  return active?.runId === runId ? active : state.queue.find((queued) => queued.runId === runId);
}

/** Members come before spreads, here and in `evolve`: V8 takes microseconds to add a member to a copy. */
const livingFieldsOf = (thread: LivingThread): LivingFields => ({
  threadId: thread.threadId,
  metadata: thread.metadata,
  temporary: thread.temporary,
  head: thread.head,
  queue: thread.queue,
  ...optionalFieldsOf(thread),
});

/** No spread for a thread without any, which is nearly every one. */
const optionalFieldsOf = ({
  ttl,
  title,
  carrier,
}: { [K in 'ttl' | 'title' | 'carrier']?: LivingFields[K] | undefined }) => ({
  ...(ttl && { ttl }),
  ...(title && { title }),
  ...(carrier !== undefined && { carrier }),
});
