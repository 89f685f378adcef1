/** Rows of threads and runs. The API's statuses are computed here and nowhere else. */
import { isObject, type Json, type JsonObject } from '../../../kernel/json.ts';
import type { Recorded } from '../../port/events.ts';
import type { Cell, OwnWrite, Row } from '../../port/rows.ts';
import type { ThreadStatus } from '../../port/views/threads.ts';
import type { Bound, Outcome, Standing, ThreadEvent, Ttl } from '../../../thread/events.ts';
import {
  cancelReasonOf,
  questionsOf,
  runEndOf,
  withoutOrigin,
  type RunEnd,
  type RunStatus,
} from '../../../thread/run-end.ts';
import { metadataColumns as columns } from './metadata-pairs.ts';

export function projectThread(event: Recorded<ThreadEvent>): readonly OwnWrite[] {
  const { at } = event.meta;
  const { threadId } = event.data;
  switch (event.type) {
    case 'ThreadCreated': {
      const { metadata, temporary, ttl } = event.data;
      return [
        created(event, {
          ...columns(metadata),
          temporary: temporary ? 1 : 0,
          ...(ttl && armed(ttl, at)),
        }),
      ];
    }
    case 'ThreadCopied': {
      const { metadata, head, graph, ttl, title = null } = event.data;
      return [
        created(event, {
          ...columns(metadata),
          title,
          head,
          state_updated_at: head === null ? null : at,
          ...(graph && boundTo({ ...graph, at })),
          ...(ttl && armed(ttl, at)),
        }),
      ];
    }
    case 'ThreadUpdated': {
      const { metadata, ttl } = event.data;
      return [thread(threadId, { ...columns(metadata), ...(ttl && armed(ttl, at)), updated_at: at })];
    }
    case 'ThreadImported': {
      const { metadata, ttl } = event.data;
      const timer = ttl === undefined ? NO_TTL : armed(ttl, at);
      return [thread(threadId, { ...columns(metadata), ...timer, imported_at: at, updated_at: at })];
    }
    case 'ThreadPruned': {
      const { disarms, runs = [], stays, title } = event.data;
      // Nothing that a client sees of the thread has changed, so the time of the last change stays.
      const set = {
        ...(disarms && { expires_at: null }),
        ...(stays && standing(stays)),
        ...(title !== undefined && { title, titled_by: null }),
      };
      const gone = runs.map((runId) => ({ op: 'drop', table: 'runs', key: { run_id: runId } }) as const);
      return Object.keys(set).length === 0 ? gone : [...gone, thread(threadId, set)];
    }
    case 'RunCreated': {
      const { runId, assistantId, graphId, metadata, strategy, notBefore } = event.data;
      const described = columns(event.data.threadMetadata);
      const { title } = event.data;
      return [
        thread(threadId, {
          status: 'busy',
          metadata: described.metadata,
          pairs: described.pairs,
          updated_at: at,
          ...(title !== undefined && { title, titled_by: runId }),
        }),
        {
          op: 'put',
          table: 'runs',
          row: {
            run_id: runId,
            thread_id: threadId,
            assistant_id: assistantId,
            graph_id: graphId,
            owner: event.data.by ?? null,
            created_at: Math.max(at, notBefore),
            updated_at: at,
            started_at: null,
            ended_at: null,
            status: 'pending' satisfies RunStatus,
            metadata: JSON.stringify(metadata),
            config: shownConfig(event.data.kwargs.config),
            strategy,
            attempt: 0,
            lease_id: null,
            not_before: notBefore,
            outcome: null,
            refused: 0,
            webhook: event.data.kwargs.webhook === undefined ? 0 : 1,
            cancel_reason: null,
            head: null,
            usage: null,
            turn: null,
            created: event.meta.version,
          },
        },
      ];
    }
    case 'RunStarted': {
      const { runId, attempt, leaseId } = event.data;
      const started: Cells = {
        status: 'running',
        attempt,
        lease_id: leaseId,
        started_at: at,
        updated_at: at,
      };
      if (attempt === 1) started['turn'] = event.meta.version;
      return [run(runId, started)];
    }
    case 'RunRequeued': {
      const waits = { status: 'pending', lease_id: null, updated_at: at } as const;
      return [run(event.data.runId, waits)];
    }
    case 'RunBegun':
      return [];
    case 'RunCancelRequested': {
      const { runId, reason, cancelReason = reason } = event.data;
      return [run(runId, { cancel_reason: cancelReason })];
    }
    case 'CheckpointSaved':
      return event.data.ns === ''
        ? [thread(threadId, { head: event.data.checkpointId, state_updated_at: at, updated_at: at })]
        : [];
    case 'StateUpdated': {
      const { head, next, interrupts } = event.data;
      const status: ThreadStatus = next.length > 0 ? 'interrupted' : 'idle';
      const waiting = JSON.stringify(interrupts);
      const set = { head, status, settled: status, interrupts: waiting, error: null };
      return [thread(threadId, { ...set, state_updated_at: at, updated_at: at })];
    }
    case 'RunCompleted': {
      const { runId, attempt, outcome, remaining, head, rearm, usage } = event.data;
      const end = runEndOf(outcome, { attempt, head });
      // The thread may still wait for an answer that was asked for before.
      const traceless = end.thread === 'as-before';
      const busy = remaining > 0;
      const ended: Cells = traceless ? {} : shown(outcome, end);
      ended['head'] = head;
      ended['updated_at'] = at;
      if (traceless && end.isTold) ended['error'] = errorOf(end);
      if (busy) ended['status'] = 'busy' satisfies ThreadStatus;
      if (rearm !== undefined) ended['expires_at'] = expiry(rearm, at);
      const left = thread(threadId, ended, traceless && !busy ? { status: 'settled' } : undefined);
      if (outcome.kind === 'rolled-back')
        return [{ op: 'drop', table: 'runs', key: { run_id: runId } }, left, untitled(threadId, runId)];
      const over: Cells = {
        status: end.run,
        lease_id: null,
        ended_at: at,
        outcome: JSON.stringify(withoutOrigin(outcome)),
        cancel_reason: cancelReasonOf(outcome),
        head,
        updated_at: at,
      };
      if (outcome.kind === 'error' && outcome.refusal !== undefined) over['refused'] = 1;
      if (usage !== undefined) over['usage'] = JSON.stringify(usage);
      if (attempt === 0) over['turn'] = event.meta.version;
      return [run(runId, over), left];
    }
    case 'RunDeleted': {
      const { runId, head, left, stays } = event.data;
      return [
        { op: 'drop', table: 'runs', key: { run_id: runId } },
        thread(threadId, {
          head,
          ...(stays === undefined
            ? shown(left?.outcome, left ? runEndOf(left.outcome, { attempt: 1, head }) : undefined)
            : standing(stays)),
          updated_at: at,
        }),
        untitled(threadId, runId),
      ];
    }
    case 'ThreadDeleted':
      return [
        { op: 'drop', table: 'runs', key: { thread_id: threadId } },
        { op: 'drop', table: 'threads', key: { thread_id: threadId } },
      ];
  }
}

/** Settings stay with the run: a thread that showed them would seem to hand them to its other assistants. */
function shownConfig({ configurable: _, metadata = {}, ...rest }: JsonObject): string | null {
  const shown = isFilled(metadata) ? { ...rest, metadata } : rest;
  return isFilled(shown) ? JSON.stringify(shown) : null;
}

const isFilled = (value: Json): boolean => isObject(value) && Object.keys(value).length > 0;

/** Filled in member by member where every run has it: to spread one object into another costs more than all the rest. */
type Cells = Record<string, Cell>;

const thread = (threadId: string, set: Row, copy?: Readonly<Record<string, string>>): OwnWrite =>
  copy === undefined
    ? { op: 'set', table: 'threads', key: { thread_id: threadId }, set }
    : { op: 'set', table: 'threads', key: { thread_id: threadId }, set, copy };

/** The title is a text of the run: it goes when the run that gave it is deleted. */
const untitled = (threadId: string, runId: string): OwnWrite => ({
  op: 'set',
  table: 'threads',
  key: { thread_id: threadId, titled_by: runId },
  set: { title: null, titled_by: null },
});

const created = ({ data, meta }: Recorded<ThreadEvent>, more: Row): OwnWrite => ({
  op: 'put',
  table: 'threads',
  row: { ...newThreadRow(data.threadId, meta.at), ...more },
});

/** Without the columns of its metadata. */
export const newThreadRow = (threadId: string, at: number): Row => ({
  thread_id: threadId,
  created_at: at,
  updated_at: at,
  state_updated_at: null,
  status: 'idle' satisfies ThreadStatus,
  settled: 'idle' satisfies ThreadStatus,
  title: null,
  titled_by: null,
  head: null,
  interrupts: '{}',
  error: null,
  temporary: 0,
  bound_graph_id: null,
  bound_assistant_id: null,
  bound_at: null,
  imported_at: null,
  ...NO_TTL,
});

const standing = ({ bound, status, interrupts, error }: Standing): Row => ({
  status,
  settled: status,
  interrupts: JSON.stringify(interrupts),
  error: error === null ? null : JSON.stringify(error),
  ...(bound && boundTo(bound)),
});

const boundTo = ({ graphId, assistantId, at }: Bound): Row => ({
  bound_graph_id: graphId,
  bound_assistant_id: assistantId,
  bound_at: at,
});

const NO_TTL = { ttl_strategy: null, ttl_minutes: null, expires_at: null };

const armed = ({ strategy, minutes }: Ttl, at: number): Row => ({
  ttl_strategy: strategy,
  ttl_minutes: minutes,
  expires_at: expiry(minutes, at),
});

const expiry = (minutes: number, at: number): number => at + Math.round(minutes * 60_000);

const run = (runId: string, set: Row): OwnWrite => ({
  op: 'set',
  table: 'runs',
  key: { run_id: runId },
  set,
});

/** What a thread shows of the run that ended last; undefined: of none. */
function shown(outcome: Outcome | undefined, end: RunEnd | undefined): Cells {
  if (outcome === undefined || end === undefined || end.thread === 'as-before')
    return { status: 'idle', settled: 'idle', interrupts: '{}', error: null };
  return {
    status: end.thread,
    settled: end.thread,
    interrupts: JSON.stringify(questionsOf(outcome)),
    error: errorOf(end),
  };
}

const errorOf = ({ error }: RunEnd): string | null => (error === null ? null : JSON.stringify(error));
