/** Given facts, when a command, then facts or a refusal: how the rules of a thread are written down in tests. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import { decide, type NewRun, type Refusal, type ThreadCommand } from '../../src/thread/decide.ts';
import type {
  CancelAction,
  MultitaskStrategy,
  Outcome,
  ThreadEvent,
  ThreadEventMap,
} from '../../src/thread/events.ts';
import { createJudge } from './judge.ts';
import { evolve, initial, type ThreadState } from '../../src/thread/state.ts';

export const THREAD = '01980000-0000-7000-8000-000000000001';
export const SUCCESS: Outcome = { kind: 'success', next: [], interrupts: {} };
const KWARGS = { input: null, config: {}, streamMode: ['values'], streamSubgraphs: false } as const;

const ORIGIN = { threadId: THREAD, program: '0.0.0', exportedAt: 0, digest: '' };

/** Facts with what matters to the machine given and the rest filled in. */
export const fact = {
  created: (metadata: JsonObject = {}, temporary = false, threadId = THREAD): ThreadEvent => ({
    type: 'ThreadCreated',
    data: { threadId, metadata, temporary },
  }),
  copied: (from: string, head: string | null = null, threadId = THREAD): ThreadEvent => ({
    type: 'ThreadCopied',
    data: { threadId, from, metadata: {}, head, graph: null },
  }),
  imported: (metadata: JsonObject = {}): ThreadEvent => ({
    type: 'ThreadImported',
    data: { threadId: THREAD, metadata, origin: ORIGIN },
  }),
  pruned: (...kept: string[]): ThreadEvent => ({
    type: 'ThreadPruned',
    data: {
      threadId: THREAD,
      kept: kept.map((checkpointId) => ({ ns: '', checkpointId })),
      disarms: false,
    },
  }),
  runDeleted: (runId: string, head: string | null = null): ThreadEvent => ({
    type: 'RunDeleted',
    data: { threadId: THREAD, runId, kept: [], head, left: null },
  }),
  updated: (metadata: JsonObject, threadId = THREAD): ThreadEvent => ({
    type: 'ThreadUpdated',
    data: { threadId, metadata },
  }),
  runCreated: (runId: string, given: Partial<ThreadEventMap['RunCreated']> = {}): ThreadEvent => ({
    type: 'RunCreated',
    data: {
      threadId: THREAD,
      runId,
      assistantId: 'assistant',
      graphId: 'graph',
      strategy: 'enqueue',
      metadata: {},
      kwargs: KWARGS,
      threadMetadata: {},
      notBefore: 0,
      ...given,
    },
  }),
  started: (runId: string, attempt = 1, leaseId = 'lease', threadId = THREAD): ThreadEvent => ({
    type: 'RunStarted',
    data: { threadId, runId, attempt, leaseId },
  }),
  begun: (runId: string, attempt = 2): ThreadEvent => ({
    type: 'RunBegun',
    data: { threadId: THREAD, runId, attempt },
  }),
  /** Handed back without an account, unless it says otherwise. */
  requeued: (runId: string, attempt = 1, how: Partial<ThreadEventMap['RunRequeued']> = {}): ThreadEvent => ({
    type: 'RunRequeued',
    data: {
      ...{ threadId: THREAD, runId, attempt, reason: 'lost' },
      ...{ lost: false, deaths: 0, charges: 0, ...how },
    },
  }),
  cancelRequested: (runId: string, action: CancelAction = 'interrupt'): ThreadEvent => ({
    type: 'RunCancelRequested',
    data: { threadId: THREAD, runId, action, reason: 'asked' },
  }),
  saved: (runId: string, checkpointId: string, ns = '', attempt = 1, threadId = THREAD): ThreadEvent => ({
    type: 'CheckpointSaved',
    data: { threadId, runId, attempt, checkpointId, parentId: null, ns, step: 0, source: 'loop' },
  }),
  stateUpdated: (head: string | null, given: Partial<ThreadEventMap['StateUpdated']> = {}): ThreadEvent => ({
    type: 'StateUpdated',
    data: {
      threadId: THREAD,
      updateId: 'update',
      checkpoints: [],
      head,
      next: [],
      interrupts: {},
      ...given,
    },
  }),
  completed: (runId: string, given: Partial<ThreadEventMap['RunCompleted']> = {}): ThreadEvent => ({
    type: 'RunCompleted',
    data: { threadId: THREAD, runId, attempt: 1, outcome: SUCCESS, remaining: 0, head: null, ...given },
  }),
  deleted: (threadId = THREAD): ThreadEvent => ({ type: 'ThreadDeleted', data: { threadId } }),
};

/** Commands, in the same manner. */
export const ask = {
  createThread: (metadata: JsonObject = {}, threadId = THREAD): ThreadCommand => ({
    type: 'CreateThread',
    threadId,
    metadata,
    temporary: false,
  }),
  copyThread: (from: string, threadId = THREAD): ThreadCommand => ({
    type: 'CopyThread',
    ...{ threadId, from, metadata: {}, head: null, graph: null },
  }),
  pruneThread: (runs?: readonly string[]): ThreadCommand => ({
    type: 'PruneThread',
    ...{ kept: [], ...(runs && { runs }) },
  }),
  deleteRun: (runId: string): ThreadCommand => ({
    type: 'DeleteRun',
    ...{ runId, kept: [], head: null, left: null },
  }),
  updateThread: (metadata: JsonObject): ThreadCommand => ({ type: 'UpdateThread', metadata }),
  createRun: (
    runId: string,
    strategy: MultitaskStrategy = 'enqueue',
    given: Partial<NewRun> = {},
  ): ThreadCommand => ({
    type: 'CreateRun',
    runId,
    assistantId: 'assistant',
    graphId: 'graph',
    strategy,
    assistantMetadata: {},
    ownMetadata: {},
    metadata: {},
    kwargs: KWARGS,
    notBefore: 0,
    ...given,
  }),
  start: (runId: string, leaseId = 'lease'): ThreadCommand => ({ type: 'StartRun', runId, leaseId }),
  begin: (runId: string, attempt = 1, leaseId = 'lease'): ThreadCommand => ({
    type: 'BeginRun',
    ...{ runId, attempt, leaseId },
  }),
  cancel: (runId: string, action: CancelAction = 'interrupt'): ThreadCommand => ({
    type: 'RequestCancel',
    runId,
    action,
    reason: 'asked',
  }),
  save: (runId: string, checkpointId: string, attempt = 1, leaseId = 'lease', ns = ''): ThreadCommand => ({
    type: 'SaveCheckpoint',
    ...{ runId, attempt, leaseId, checkpointId, parentId: null, ns, step: 0, source: 'loop' },
  }),
  updateState: (updateId: string, head: string): ThreadCommand => ({
    type: 'UpdateState',
    ...{ updateId, head, next: [], interrupts: {} },
    checkpoints: [{ checkpointId: head, parentId: null, ns: '', step: 0, source: 'update' }],
  }),
  complete: (runId: string, outcome: Outcome = SUCCESS, attempt = 1, leaseId = 'lease'): ThreadCommand => ({
    type: 'CompleteRun',
    ...{ runId, attempt, leaseId, outcome },
  }),
  requeue: (runId: string, attempt = 1, leaseId = 'lease'): ThreadCommand => ({
    type: 'RequeueRun',
    ...{ runId, attempt, leaseId, reason: 'shutdown' },
  }),
  abandon: (runId: string, maxCharges = 3, died: 'worker' | 'server' = 'worker'): ThreadCommand => ({
    type: 'AbandonAttempt',
    ...{ runId, died, maxCharges, reason: 'lost', error: 'Lost' },
  }),
  miss: (runId: string, hasReturned = false): ThreadCommand => ({
    type: 'AbandonAttempt',
    ...{ runId, died: 'server', isMissing: true, hasReturned, maxCharges: 3, reason: 'lost', error: 'Lost' },
  }),
  deleteThread: (): ThreadCommand => ({ type: 'DeleteThread' }),
  importThread: (events: readonly ThreadEvent[], metadata: JsonObject = {}): ThreadCommand => ({
    type: 'ImportThread',
    ...{ events, threadId: THREAD, metadata, origin: ORIGIN },
  }),
};

export interface Outlook {
  /** The exact facts, in order. */
  then(...facts: ThreadEvent[]): ThreadState;
  /** Only their names; the state after them is returned. */
  thenTypes(...types: ThreadEvent['type'][]): ThreadState;
  thenRefused(refusal: Refusal): void;
  /** Facts' names joined by blanks, or `!` and the refusal's code. */
  readonly text: string;
  readonly events: readonly ThreadEvent[];
}

/** Fails at once when the machine would not allow the history. */
export function given(...history: readonly ThreadEvent[]): {
  readonly state: ThreadState;
  when(command: ThreadCommand): Outlook;
} {
  const judge = createJudge(initial);
  const follow = (state: ThreadState, event: ThreadEvent): ThreadState => {
    assert.ok(judge.can([event]), `${event.type} cannot happen in "${judge.value}"`);
    judge.send(event);
    const after = evolve(state, event);
    assert.equal(after.status, judge.value, `evolve and the machine differ after ${event.type}`);
    return after;
  };
  const state = history.reduce(follow, initial);
  return {
    state,
    when(command) {
      const decision = decide(command, state, judge.can);
      const events = decision.ok ? decision.events : [];
      const after = (): ThreadState => events.reduce(follow, state);
      const text = decision.ok ? events.map(({ type }) => type).join(' ') : `!${decision.refusal.code}`;
      return {
        text,
        events,
        then(...facts) {
          assert.deepEqual(decision, { ok: true, events: facts });
          return after();
        },
        thenTypes(...types) {
          assert.equal(text, types.join(' '));
          return after();
        },
        thenRefused(refusal) {
          assert.deepEqual(decision, { ok: false, refusal });
        },
      };
    },
  };
}
