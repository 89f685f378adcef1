/**
 * Decides a thread command: returns events, or a refusal with its reason. Pure. The thread machine decides through
 * `can`; only after it says no does the state name the refusal. An accepted command without events means that the
 * requested change already holds.
 */
import type { JsonObject } from '../kernel/json.ts';
import { withCarrier } from './carrier.ts';
import type {
  CancelAction,
  Keep,
  MultitaskStrategy,
  Outcome,
  RunKwargs,
  Stop,
  ThreadEvent,
  ThreadEventMap,
  Ttl,
} from './events.ts';
import type { Seen } from './origin.ts';
import { completed, endAll, requeued } from './end-facts.ts';
import { decideImport, type ImportCommand } from './import-decide.ts';
import { afterDeath, whyOver, type Death } from './fault.ts';
import { cancelOutcome, stopOf, stopReason } from './run-end.ts';
import {
  accountOf,
  activeOf,
  evolve,
  hasBegun,
  isLiving,
  isPlaced,
  openRun,
  type LivingThread,
  type Placement,
  type ThreadState,
} from './state.ts';
import { keptTitle, newTitle } from './title.ts';

export interface NewRun extends Placement {
  readonly runId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly strategy: MultitaskStrategy;
  /** Merge order: assistant, thread, `ownMetadata` (the run's names, its config's metadata), `metadata`. */
  readonly assistantMetadata: JsonObject;
  readonly ownMetadata: JsonObject;
  readonly metadata: JsonObject;
  readonly kwargs: RunKwargs;
  readonly notBefore: number;
}

export type ThreadCommand =
  | { type: 'CreateThread'; threadId: string; metadata: JsonObject; temporary: boolean; ttl?: Ttl }
  | ({ type: 'CopyThread' } & ThreadEventMap['ThreadCopied'])
  | { type: 'UpdateThread'; metadata: JsonObject; ttl?: Ttl }
  /** `kept` must be read at the version that the command is decided on. */
  | ({ type: 'PruneThread' } & Pick<ThreadEventMap['ThreadPruned'], 'kept' | 'runs' | 'stays'>)
  | ({ type: 'DeleteRun' } & Omit<ThreadEventMap['RunDeleted'], 'threadId'>)
  | ({ type: 'CreateRun' } & NewRun)
  | { type: 'StartRun'; runId: string; leaseId: string; incarnation?: string }
  | ({ type: 'BeginRun' } & Executing)
  | ({ type: 'RequestCancel' } & Cancel)
  | ({ type: 'SaveCheckpoint' } & Executing &
      Omit<ThreadEventMap['CheckpointSaved'], 'threadId' | keyof Executing>)
  | ({ type: 'UpdateState' } & Omit<ThreadEventMap['StateUpdated'], 'threadId'>)
  | ({ type: 'CompleteRun'; outcome: Outcome } & Seen & Executing)
  /** Puts the run back into the queue while its process is alive. */
  | ({ type: 'RequeueRun'; reason: string } & Executing)
  /** Ends an attempt whose worker died, charged to the run, or its server. `error` names the run's error if it ends. */
  | ({ type: 'AbandonAttempt'; runId: string; maxCharges: number; reason: string; error: string } & Death)
  | ImportCommand
  | { type: 'DeleteThread' };

/** X2 An executor presents these with every write. */
export interface Executing {
  readonly runId: string;
  readonly attempt: number;
  readonly leaseId: string;
}

export type Refusal =
  | { readonly code: 'thread-missing' }
  | { readonly code: 'thread-exists' }
  | { readonly code: 'thread-busy'; readonly runId: string }
  /** The thread changed after the caller read it. */
  | { readonly code: 'thread-changed' }
  /** An append to another stream in the same commit met a concurrency conflict. */
  | { readonly code: 'concurrency-conflict' }
  | { readonly code: 'run-exists' }
  | { readonly code: 'run-not-open' }
  | { readonly code: 'lease-stale' };

export type Decision =
  | { readonly ok: true; readonly events: readonly ThreadEvent[] }
  | { readonly ok: false; readonly refusal: Refusal };

type Can = (facts: readonly ThreadEvent[]) => boolean;

const accept = (...events: ThreadEvent[]): Decision => ({ ok: true, events });
const refuse = (refusal: Refusal): Decision => ({ ok: false, refusal });

export function decide(command: ThreadCommand, state: ThreadState, can: Can): Decision {
  const decision = decideFacts(command, state, can);
  return decision.ok ? accept(...withCarrier(state, decision.events)) : decision;
}

function decideFacts(command: ThreadCommand, state: ThreadState, can: Can): Decision {
  if (command.type === 'CreateThread' || command.type === 'CopyThread') {
    const { type, ...data } = command;
    const fact = { type: type === 'CreateThread' ? 'ThreadCreated' : 'ThreadCopied', data } as ThreadEvent;
    return can([fact]) ? accept(fact) : refuse({ code: 'thread-exists' });
  }
  if (command.type === 'ImportThread') {
    const events = decideImport(command, state, can);
    return typeof events === 'string' ? refuse({ code: events }) : { ok: true, events };
  }
  if (!isLiving(state)) return refuse({ code: 'thread-missing' });
  const { threadId } = state;
  switch (command.type) {
    case 'UpdateThread': {
      const metadata = { ...state.metadata, ...command.metadata };
      const { ttl } = command;
      return accept({ type: 'ThreadUpdated', data: { threadId, metadata, ...(ttl && { ttl }) } });
    }
    case 'PruneThread': {
      const { type: _, ...pruned } = command;
      const kept = { disarms: state.ttl?.strategy === 'keep-latest', ...keptTitle(state, pruned.runs) };
      const fact: ThreadEvent = { type: 'ThreadPruned', data: { threadId, ...pruned, ...kept } };
      return can([fact]) ? accept(fact) : refuse(busyWith(state));
    }
    case 'DeleteRun': {
      const { type: _, ...deleted } = command;
      const fact: ThreadEvent = { type: 'RunDeleted', data: { threadId, ...deleted } };
      return can([fact]) ? accept(fact) : refuse(busyWith(state));
    }
    case 'CreateRun':
      return createRun(command, state, can);
    case 'StartRun': {
      const run = openRun(state, command.runId);
      const { type: _, ...start } = command;
      const attempt = (run?.attempt ?? 0) + 1;
      const fact: ThreadEvent = { type: 'RunStarted', data: { threadId, attempt, ...start } };
      if (can([fact])) return accept(fact);
      return refuse(
        activeOf(state) ? { code: 'thread-busy', runId: activeOf(state)!.runId } : { code: 'run-not-open' },
      );
    }
    case 'RequestCancel':
      return requestCancel(command, state, can);
    case 'BeginRun': {
      const { runId, attempt } = command;
      const fact: ThreadEvent = { type: 'RunBegun', data: { threadId, runId, attempt } };
      return holdsLease(command, state) && can([fact]) ? accept(fact) : refuse({ code: 'lease-stale' });
    }
    case 'SaveCheckpoint': {
      if (!holdsLease(command, state)) return refuse({ code: 'lease-stale' });
      const { type: _, leaseId: __, ...saved } = command;
      const fact: ThreadEvent = { type: 'CheckpointSaved', data: { threadId, ...saved } };
      return can([fact]) ? accept(fact) : refuse({ code: 'lease-stale' });
    }
    case 'UpdateState': {
      const { type: _, ...update } = command;
      const fact: ThreadEvent = { type: 'StateUpdated', data: { threadId, ...update } };
      return can([fact]) ? accept(fact) : refuse(busyWith(state));
    }
    case 'CompleteRun': {
      if (!holdsLease(command, state)) return refuse({ code: 'lease-stale' });
      // A requested rollback wins over any outcome: later runs expect a thread without this run's checkpoints.
      const isRollback = state.status === 'stopping' && state.action === 'rollback';
      // The cancel request supplies the reason, the executor supplies the remaining nodes.
      const isCancelled = state.status === 'stopping' && command.outcome.kind === 'cancelled';
      const outcome = isRollback
        ? cancelOutcome('rollback', state)
        : isCancelled
          ? { ...command.outcome, ...stopOf(state) }
          : command.outcome;
      const fact = completed(state, command.runId, outcome, command);
      return can([fact]) ? accept(fact) : refuse({ code: 'run-not-open' });
    }
    case 'AbandonAttempt':
      return abandonAttempt(command, state, can);
    case 'RequeueRun': {
      if (!holdsLease(command, state)) return refuse({ code: 'lease-stale' });
      const { runId, reason } = command;
      // A cancelled run completes here: the executor may not know of the request, and no other code ends the run.
      const fact: ThreadEvent =
        state.status === 'stopping'
          ? completed(state, runId, cancelOutcome(state.action, state))
          : requeued(state, { reason, lost: false, ...accountOf(activeOf(state)!) });
      return can([fact]) ? accept(fact) : refuse({ code: 'run-not-open' });
    }
    case 'DeleteThread': {
      const active = activeOf(state);
      const open = active ? [...state.queue, active] : state.queue;
      const facts: ThreadEvent[] = [
        ...endAll(state, open, { kind: 'cancelled', reason: 'The thread was deleted.' }),
        { type: 'ThreadDeleted', data: { threadId } },
      ];
      return can(facts) ? accept(...facts) : refuse({ code: 'thread-missing' });
    }
  }
}

function createRun(command: { type: 'CreateRun' } & NewRun, state: LivingThread, can: Can): Decision {
  const { type: _, assistantMetadata, ownMetadata, ifHead, ifOpen, ...run } = command;
  if (!isPlaced(state, { ifHead, ifOpen })) return refuse({ code: 'thread-changed' });
  const created: ThreadEvent = {
    type: 'RunCreated',
    data: {
      threadId: state.threadId,
      ...{ ...run, ...newTitle(state, run) },
      metadata: { ...assistantMetadata, ...state.metadata, ...ownMetadata, ...run.metadata },
      threadMetadata: { ...state.metadata, graph_id: run.graphId, assistant_id: run.assistantId },
    },
  };
  const facts = [created, ...supersede(command, state, created)];
  if (can(facts)) return accept(...facts);
  if (openRun(state, run.runId) !== undefined) return refuse({ code: 'run-exists' });
  return refuse(busyWith(state));
}

const busyWith = (state: LivingThread): Refusal => ({
  code: 'thread-busy',
  runId: activeOf(state)?.runId ?? state.queue[0]?.runId ?? '',
});

/** `interrupt` and `rollback` end the queued runs at once and request a stop of the active run. */
function supersede({ strategy, runId }: NewRun, state: LivingThread, created: ThreadEvent): ThreadEvent[] {
  if (strategy !== 'interrupt' && strategy !== 'rollback') return [];
  const reason = stopReason.superseded(runId, strategy);
  const facts = endAll(evolve(state, created), state.queue, cancelOutcome(strategy, { reason }));
  const active = activeOf(state);
  if (active !== undefined && !isStopping(state, strategy))
    facts.push(cancelRequested(state, { runId: active.runId, action: strategy, reason }));
  return facts;
}

/** A rollback request can follow an interrupt request, but not the reverse. */
const isStopping = (state: LivingThread, action: CancelAction): boolean =>
  state.status === 'stopping' && (state.action === 'rollback' || action === 'interrupt');

interface Cancel extends Stop {
  readonly runId: string;
  readonly action: CancelAction;
  readonly keep?: Keep;
}

function cancelRequested(state: LivingThread, { runId, action, keep, ...stop }: Cancel): ThreadEvent {
  const first = state.status === 'stopping' ? { cancelReason: state.cancelReason ?? state.reason } : {};
  const { threadId } = state;
  const data = { threadId, runId, action, ...(keep && { keep }), ...stopOf({ ...stop, ...first }) };
  return { type: 'RunCancelRequested', data };
}

function requestCancel(cancel: Cancel, state: LivingThread, can: Can): Decision {
  const { runId, action, keep } = cancel;
  if (openRun(state, runId) === undefined) return refuse({ code: 'run-not-open' });
  const isKept = keep === undefined || (state.status === 'stopping' && state.keep === keep);
  if (activeOf(state)?.runId === runId && isStopping(state, action) && isKept) return accept();
  const fact: ThreadEvent =
    activeOf(state)?.runId === runId
      ? cancelRequested(state, cancel)
      : completed(state, runId, cancelOutcome(action, cancel));
  return can([fact]) ? accept(fact) : refuse({ code: 'run-not-open' });
}

function abandonAttempt(
  command: ThreadCommand & { type: 'AbandonAttempt' },
  state: LivingThread,
  can: Can,
): Decision {
  const { runId, died, maxCharges, reason, error } = command;
  const active = activeOf(state);
  if (active?.runId !== runId) return refuse({ code: 'run-not-open' });
  const { incarnation, saved } = active;
  const lost = died === 'worker' || hasBegun(active);
  const account = afterDeath(accountOf(active), command, lost && !saved, incarnation);
  const lives = died === 'server' && incarnation !== undefined ? { ...account, incarnation } : account;
  const over = whyOver(account, maxCharges);
  const fact: ThreadEvent =
    state.status === 'stopping'
      ? completed(state, runId, cancelOutcome(state.action, state))
      : over !== undefined
        ? completed(state, runId, { kind: 'error', error, message: `Run ${runId} ${over}: ${reason}` })
        : requeued(state, { reason, lost, ...lives });
  return can([fact]) ? accept(fact) : refuse({ code: 'run-not-open' });
}

/** X2 Tells whether the attempt still holds the run's lease. */
function holdsLease({ runId, attempt, leaseId }: Executing, state: LivingThread): boolean {
  const active = activeOf(state);
  return active?.runId === runId && active.attempt === attempt && active.leaseId === leaseId;
}
