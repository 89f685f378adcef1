/**
 * Maps a run's outcome to the status of run, webhook and thread. Pure; projections, records, webhooks and streams use it.
 *
 * | outcome                   | run         | webhook     | thread                    | error of the thread |
 * |---------------------------|-------------|-------------|---------------------------|---------------------|
 * | success, nothing left     | success     | success     | idle                      | null                |
 * | success, nodes left       | success     | success     | interrupted               | null                |
 * | error                     | error       | error       | error                     | the graph's         |
 * | error, resume refused     | error       | error       | as before                 | as before           |
 * | timeout                   | timeout     | timeout     | error                     | TimeoutError        |
 * | cancelled, begun          | interrupted | interrupted | interrupted if nodes left | UserInterrupt       |
 * | cancelled, never begun    | interrupted | interrupted | as before                 | as before           |
 * | rolled back, begun        | (gone)      | rollback    | as before                 | UserRollback        |
 * | rolled back, never begun  | (gone)      | rollback    | as before                 | as before           |
 */
import type { JsonObject } from '../kernel/json.ts';
import type { CancelAction, Outcome, ResumeRefusal, Stop } from './events.ts';

export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'interrupted';

/** Error as clients read it. A refused strict resume adds the members after `message`. */
export interface RunError {
  readonly error: string;
  readonly message: string;
  readonly reason?: ResumeRefusal['reason'];
  readonly interrupt_ids?: string[];
  readonly pending_ids?: string[];
}

export interface RunEnd {
  readonly run: RunStatus;
  readonly webhook: RunStatus | 'rollback';
  readonly thread: 'idle' | 'interrupted' | 'error' | 'as-before';
  /** Error in the run's record and webhook; null without one. */
  readonly error: RunError | null;
  /** Whether the thread shows `error`; if false, the thread's error does not change. */
  readonly isTold: boolean;
  /** Whether `error` is the last frame of the run's stream. */
  readonly isFrame: boolean;
}

/** The second argument takes members of `RunCompleted`. A run without an attempt has never begun. */
export function runEndOf(
  outcome: Outcome,
  { attempt, head }: { readonly attempt: number; readonly head: string | null },
): RunEnd {
  const begun = attempt > 0;
  switch (outcome.kind) {
    case 'success': {
      const thread = outcome.next.length > 0 ? 'interrupted' : 'idle';
      return { run: 'success', webhook: 'success', thread, error: null, isTold: true, isFrame: false };
    }
    case 'error': {
      const { error: name, message, refusal } = outcome;
      if (refusal === undefined) return ended('error', { error: name, message });
      const error = { error: name, message, ...toMembers(refusal) };
      return { ...ended('error', error), thread: 'as-before', isTold: false };
    }
    case 'timeout':
      return ended('timeout', { error: 'TimeoutError', message: outcome.message });
    case 'cancelled': {
      const error = { error: 'UserInterrupt', message: outcome.reason };
      // A graph that did not report its remaining nodes counts as unfinished once it has saved a checkpoint.
      const isLeft = outcome.next === undefined ? head !== null : outcome.next.length > 0;
      const thread = !begun ? 'as-before' : isLeft ? 'interrupted' : 'idle';
      return { run: 'interrupted', webhook: 'interrupted', thread, error, isTold: begun, isFrame: false };
    }
    case 'rolled-back': {
      const error = { error: 'UserRollback', message: outcome.reason };
      const isTold = begun;
      return { run: 'interrupted', webhook: 'rollback', thread: 'as-before', error, isTold, isFrame: false };
    }
  }
}

/** The questions that the run leaves, by the ids of their tasks. */
export const questionsOf = (outcome: Outcome): JsonObject =>
  outcome.kind === 'success' && outcome.next.length > 0 ? outcome.interrupts : {};

export const cancelOutcome = (action: CancelAction, stop: Stop): Outcome => ({
  kind: action === 'rollback' ? 'rolled-back' : 'cancelled',
  ...stopOf(stop),
});

export const stopOf = ({ reason, cancelReason }: Stop): Stop => ({
  reason,
  ...(cancelReason !== undefined && { cancelReason }),
});

/** The run's `cancel_reason`; null for a run that was not cancelled. */
export const cancelReasonOf = (outcome: Outcome): string | null =>
  outcome.kind === 'cancelled' || outcome.kind === 'rolled-back'
    ? (outcome.cancelReason ?? outcome.reason)
    : null;

/** Outcome as stored in rows: replies are built from rows and must not contain a stack. */
export function withoutOrigin(outcome: Outcome): Outcome {
  if (outcome.kind !== 'error') return outcome;
  const { origin: _, ...rest } = outcome;
  return rest;
}

const toMembers = ({ reason, interruptIds, pendingIds }: ResumeRefusal) => ({
  ...{ reason, interrupt_ids: [...interruptIds], pending_ids: [...pendingIds] },
});

const ended = (run: 'error' | 'timeout', error: RunError): RunEnd => ({
  ...{ run, webhook: run, thread: 'error' },
  ...{ error, isTold: true, isFrame: true },
});

/** Reasons for stops, in the wording that existing clients know. The braces are literal text. */
export const stopReason = {
  cancel: (action: CancelAction): string =>
    `${action} requested via POST /threads/{thread_id}/runs/{run_id}/cancel`,
  /** Value of `cancel_reason` for a run whose input another run absorbed. */
  taken: 'taken: Cancelled through the API.',
  cancelMany: (action: CancelAction): string => `${action} requested via POST /runs/cancel`,
  /** The run was open in the exported file of its thread. */
  imported: 'imported',
  disconnect: 'client disconnected from the run stream (on_disconnect=cancel)',
  superseded: (runId: string, strategy: CancelAction): string =>
    `superseded by run ${runId} (multitask_strategy=${strategy})`,
} as const;
