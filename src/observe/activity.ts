/**
 * Writes log entries about committed events: ends of runs, failed webhook attempts, fired and refused crons.
 *
 * A4 Entries contain ids, names and times, a user's identity and a request's id. Inputs and outputs of runs stay out,
 * except the message of a failure.
 */
import { MISSED } from '../cron/events.ts';
import { toTimestamp } from '../kernel/clock.ts';
import { placeText, userPlaceOf } from '../kernel/stack.ts';
import type { Caused, Recorded } from '../store/port/events.ts';
import type { EventLog } from '../store/port/log.ts';
import type { Outcome, ThreadEventMap } from '../thread/events.ts';
import { parseSecret } from '../thread/secret.ts';
import { RUN_ENDED, RUN_WARNED, type OnEntry, type RunException } from './entry.ts';

export interface ActivityOptions {
  readonly log: EventLog;
  readonly onEntry: OnEntry;
  /** Runs have users. The request that creates a run names its user; the secret row names that of a cron's run. */
  readonly hasUsers: boolean;
  readonly onFault: (error: unknown, context: string) => void;
}

export interface Activity {
  /** Logs how many runs a dead server process left behind. */
  recovered(runs: number): void;
  /** Starts collecting requeued runs, which `stop` logs. */
  stopping(): void;
  stop(): void;
}

/** Data of an open run, collected from its events; times in milliseconds since 1970. */
interface OpenRun {
  readonly graphId: string;
  readonly assistantId: string;
  readonly createdAt: number;
  /** Earliest start of a run with `after_seconds`. */
  readonly dueAt: number;
  readonly requestId?: string;
  firstStartedAt?: number;
  startedAt?: number;
  /** Saved in the root namespace; undefined for a run that another process created. */
  checkpoints?: number;
  user?: string | undefined;
  /** Settles when the user is known. */
  reading?: Promise<void>;
}

type Fact<Type extends keyof ThreadEventMap> = ThreadEventMap[Type];

export function openActivity({ log, onEntry, hasUsers, onFault }: ActivityOptions): Activity {
  const open = new Map<string, OpenRun>();
  /** The reason that was logged last, of crons whose last slot was refused. */
  const refusals = new Map<string, string>();
  let handedBack: string[] | undefined;

  function created(data: Fact<'RunCreated'> & Caused, at: number): void {
    const { runId, threadId, graphId, assistantId, notBefore } = data;
    const requestId = requestIdOf(data.kwargs.config['configurable']);
    open.set(runId, {
      ...{ graphId, assistantId, createdAt: at, dueAt: Math.max(at, notBefore), checkpoints: 0 },
      ...(hasUsers && { user: data.by }),
      ...(requestId !== undefined && { requestId }),
    });
    onEntry({
      level: 'debug',
      message: 'run created',
      members: { graph_id: graphId, assistant_id: assistantId, thread_id: threadId, run_id: runId },
    });
  }

  function started({ runId, threadId, attempt }: Fact<'RunStarted'>, at: number): void {
    const run = open.get(runId);
    if (run !== undefined) {
      run.firstStartedAt ??= at;
      run.startedAt = at;
    }
    if (hasUsers && run !== undefined && run.user === undefined)
      run.reading ??= log.payloads.secret(runId).then(
        (text) => {
          const identity = parseSecret(text).user?.['identity'];
          if (typeof identity === 'string') run.user = identity;
        },
        (error: unknown) => onFault(error, `the user of run ${runId}`),
      );
    onEntry({
      level: 'debug',
      message: 'run started',
      members: { thread_id: threadId, run_id: runId, run_attempt: attempt },
    });
  }

  function ended(data: Fact<'RunCompleted'>, at: number): void {
    const known = open.get(data.runId);
    open.delete(data.runId);
    for (const { message, node, step, stack } of data.observed?.warnings ?? []) {
      const place = userPlaceOf(stack ?? '');
      const { threadId: thread_id, runId: run_id } = data;
      const members = { graph_id: known?.graphId, thread_id, run_id, node, step, warning: message };
      onEntry({
        level: 'warn',
        message: RUN_WARNED,
        members: { ...members, ...(place && { at: placeText(place) }) },
      });
    }
    if (known?.reading !== undefined) return void known.reading.then(() => onEntry(entryOf(data, at, known)));
    if (known !== undefined) return onEntry(entryOf(data, at, known));
    // The run was created before this process started, so its row is read.
    log.views.runs.get(data.runId).then(
      (run) => {
        if (run === undefined) return onEntry(entryOf(data, at, undefined));
        const { startedAt, createdAt: dueAt, kwargs } = run;
        const requestId = requestIdOf(kwargs.config['configurable']);
        const times = { ...run, dueAt, ...(startedAt !== null && { startedAt }) };
        onEntry(entryOf(data, at, { ...times, ...(requestId !== undefined && { requestId }) } as OpenRun));
      },
      (error: unknown) => onFault(error, `the end of run ${data.runId}`),
    );
  }

  function observe({ type, data, meta: { at } }: Recorded): void {
    switch (type) {
      case 'RunCreated':
        return created(data, at);
      case 'RunStarted':
        return started(data, at);
      case 'CheckpointSaved': {
        const run = open.get(data.runId);
        if (run?.checkpoints !== undefined && data.ns === '') run.checkpoints += 1;
        return;
      }
      case 'RunCompleted':
        return ended(data, at);
      case 'RunRequeued':
        if (!data.lost) handedBack?.push(data.runId);
        return;
      case 'CronSlotPassed': {
        const { cronId, reason, slot } = data;
        // A cron that fires every second says the same reason once.
        if (reason === MISSED || refusals.get(cronId) === reason) return;
        refusals.set(cronId, reason);
        const members = { cron_id: cronId, slot: toTimestamp(slot), reason };
        return onEntry({ level: 'warn', message: 'cron refused', members });
      }
      case 'CronDeleted':
        return void refusals.delete(data.cronId);
      case 'CronFired': {
        refusals.delete(data.cronId);
        const members = { cron_id: data.cronId, thread_id: data.threadId, run_id: data.runId };
        return onEntry({
          level: 'info',
          message: 'cron fired',
          members: { ...members, slot: toTimestamp(data.slot) },
        });
      }
      case 'WebhookAttemptFailed': {
        const { deliveryId, attempt, status, error, nextAt } = data;
        const next = nextAt === null ? null : toTimestamp(nextAt);
        return onEntry({
          level: 'warn',
          message: 'webhook attempt failed',
          members: { webhook_id: deliveryId, attempt, status, error, next_attempt_at: next },
        });
      }
      default:
    }
  }

  const unsubscribe = log.onCommitted(({ events }) => events.forEach(observe));
  return {
    recovered(runs) {
      if (runs > 0) onEntry({ level: 'info', message: 'runs recovered at start', members: { runs } });
    },
    stopping() {
      handedBack = [];
    },
    stop() {
      unsubscribe();
      if (handedBack !== undefined)
        onEntry({ level: 'info', message: 'stopped', members: { runs_handed_back: handedBack } });
    },
  };
}

function entryOf(
  { threadId, runId, attempt, outcome, observed }: Fact<'RunCompleted'>,
  at: number,
  run: OpenRun | undefined,
): ReturnType<typeof toEntry> {
  const { createdAt, dueAt, startedAt, firstStartedAt = startedAt } = run ?? {};
  const between = (from: number | undefined, to: number | undefined): number | undefined =>
    from === undefined || to === undefined ? undefined : Math.max(0, to - from);
  return toEntry(outcome, {
    graph_id: run?.graphId,
    assistant_id: run?.assistantId,
    thread_id: threadId,
    run_id: runId,
    run_attempt: attempt,
    request_id: run?.requestId,
    user: run?.user,
    checkpoints: run?.checkpoints,
    ...(observed && { steps: observed.steps, model_calls: observed.modelCalls }),
    // Queue: due to first start. Execution: last start to end. Wait: creation to last start.
    run_queue_ms: between(dueAt, firstStartedAt),
    run_exec_ms: between(startedAt, at),
    run_wait_time_ms: between(createdAt, startedAt),
  });
}

function toEntry(outcome: Outcome, members: Record<string, unknown>) {
  const logged = { ...members, outcome: outcome.kind };
  switch (outcome.kind) {
    case 'success':
      return {
        level: 'info',
        message: RUN_ENDED,
        members: Object.keys(outcome.interrupts).length === 0 ? logged : { ...logged, waits: true },
      } as const;
    case 'error': {
      const { error, message, origin: { node, channel, step, stack, remedy } = {} } = outcome;
      const place = userPlaceOf(stack ?? '');
      const exception: RunException = {
        type: error,
        message,
        ...(remedy && { remedy }),
        ...(stack && { stack }),
      };
      const at = place && placeText(place);
      return {
        level: 'error',
        message: 'run failed',
        members: { ...logged, node, channel, step, at, exception },
      } as const;
    }
    case 'timeout':
      return {
        level: 'warn',
        message: RUN_ENDED,
        members: { ...logged, reason: outcome.message },
      } as const;
    default:
      return { level: 'info', message: RUN_ENDED, members: { ...logged, reason: outcome.reason } } as const;
  }
}

function requestIdOf(configurable: unknown): string | undefined {
  const id = (Object(configurable) as Record<string, unknown>)['langgraph_request_id'];
  return typeof id === 'string' ? id : undefined;
}
