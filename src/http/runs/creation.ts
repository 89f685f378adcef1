/**
 * Creates a run from a request, for all routes, commands and crons that create runs.
 *
 * A2 The thread is looked up through the filter of `threads:create_run`. A4 The user and inherited headers go into the
 * run's secret row; kwargs, which clients can read, never hold them.
 */
import type { Actor } from '../../auth/authenticate.ts';
import type { CronOrder } from '../../actors/crons.ts';
import type { Dispatched } from '../../actors/threads.ts';
import { dueTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { getAssistant, type AssistantRecord } from '../../projections/assistant-queries.ts';
import { getRun, type RunRecord } from '../../projections/run-queries.ts';
import { getThread } from '../../projections/thread-queries.ts';
import type { ThreadCommand } from '../../thread/decide.ts';
import type { RunKwargs } from '../../thread/events.ts';
import { renderSecret } from '../../thread/secret.ts';
import type { AcceptedRequest } from '../../log/payloads.ts';
import { authorise, grantedMetadata, type Granted } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { answerOf, findResumePlacement, isAnswer, type ResumePlacement } from './resume-placement.ts';
import { findAccepted, type IdempotencyKey } from './idempotency.ts';
import { settingsOfHead } from './made-with.ts';
import {
  noAssistantFor,
  noRun,
  noThread,
  noThreadToResume,
  refused,
  ConcurrencyConflict,
} from '../replies.ts';
import { checkStartCheckpoint, checkWebhook } from './checks.ts';
import { grantedKwargs, namesOf } from './granted-kwargs.ts';
import { toRunKwargs } from './kwargs.ts';
import { toAssistantId } from '../assistants/access.ts';
import { checkServed } from '../assistants/served-graph.ts';
import type { RunCreate } from './schemas.ts';
import { toKwargs } from './shapes.ts';

/** Maximum tries of an answer that meets concurrency conflicts. */
const MAX_TRIES = 5;

/** Options that only some callers use. */
export interface RunExtras {
  readonly protocol?: 'v2';
  /** Refused with `ConcurrencyConflict` unless the thread is idle with this head. */
  readonly ifHead?: string | null;
  /** If a request with this key was accepted before, its run is returned and nothing is created. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** The run may start before the reply. */
  readonly startsAtOnce?: boolean;
  /** Cron slot of the run: its ids, and a fact for the same commit. Throws `ConcurrencyConflict` when it is outdated. */
  readonly slot?: Pick<CronOrder, 'cron' | 'runId' | 'threadId' | 'slotFact'>;
}

export interface Created {
  readonly run: Pick<RunRecord, 'runId' | 'threadId'>;
  readonly request: RunCreate;
}

/** A run without `threadId` is stateless: its temporary thread is deleted at its end unless the request keeps it. */
export async function createRun(
  context: ServerContext,
  actor: Actor,
  request: RunCreate,
  threadId?: string,
  extras: RunExtras = {},
): Promise<Created> {
  const accept = await prepareRun(context, actor, request, threadId, extras);
  return accept();
}

/** Reads the created run's record. Throws a 404 when it is already deleted. */
export async function shownRun({ log }: ServerContext, { run }: Created): Promise<RunRecord> {
  const found = await getRun(log.rows, run.runId);
  if (found === undefined) throw noRun();
  return found;
}

/** Makes all checks of the request; the returned function commits the run. */
export async function prepareRun(
  context: ServerContext,
  actor: Actor,
  checked: RunCreate,
  threadId?: string,
  { protocol, ifHead, idempotencyKey, slot, startsAtOnce = false }: RunExtras = {},
): Promise<() => Promise<Created>> {
  const asked = slot ? { ...checked, metadata: { ...checked.metadata, cron_id: slot.cron.cronId } } : checked;
  const earlier = idempotencyKey && (await findAccepted(context.log, idempotencyKey));
  if (earlier !== undefined) {
    const run = await findAgain(context, actor, asked, earlier);
    return async () => ({ run, request: asked });
  }
  // The new thread of a stateless run has no checkpoint to start from.
  const request =
    threadId === undefined ? { ...asked, checkpoint: undefined, checkpoint_id: undefined } : asked;
  if (threadId === undefined && slot === undefined && request.command?.resume !== undefined)
    throw noThreadToResume();
  checkWebhook(context, request.webhook);
  const assistant = await findAssistantToRun(context, actor, request.assistant_id);
  const runId = slot?.runId ?? context.ids.uuid();
  const target = threadId ?? slot?.threadId ?? context.ids.uuid();
  const requestedKwargs = toRunKwargs(actor, request, assistant, {
    runId,
    threadId: target,
    requestId: actor.requestId ?? context.ids.uuid(),
    temporary: threadId === undefined && request.on_completion !== 'keep',
  });
  const ordered = protocol === undefined ? requestedKwargs : { ...requestedKwargs, protocol };
  const { assistantId } = assistant;
  const names = namesOf(ordered);
  const order = { threadId, assistantId, runId, kwargs: ordered };
  const granted = await authoriseRun(context, actor, request, order);
  const kwargs = context.asksHandler ? grantedKwargs(ordered, names, granted.value['kwargs']) : ordered;
  if (kwargs.webhook !== ordered.webhook) checkWebhook(context, kwargs.webhook);
  const visible =
    threadId === undefined ? undefined : await getThread(context.log.rows, target, granted.filter);
  if (visible === undefined && threadId !== undefined && request.if_not_exists !== 'create')
    throw noThread(threadId);
  const metadata = grantedMetadata(granted, visible?.metadata);
  await checkStartCheckpoint(context, visible?.threadId, kwargs);
  const before = visible && (await settingsOfHead(context.log, target, request));
  const create = ({ ifHead: at = ifHead }: ResumePlacement = {}): ThreadCommand => ({
    type: 'CreateRun',
    runId,
    assistantId: assistant.assistantId,
    graphId: assistant.graphId,
    strategy: request.multitask_strategy,
    assistantMetadata: assistant.metadata,
    ownMetadata: {
      ...(threadId !== undefined && { graph_id: assistant.graphId }),
      ...(kwargs.config['metadata'] as JsonObject),
      assistant_id: assistant.assistantId,
    },
    metadata,
    kwargs: before === undefined ? kwargs : { ...kwargs, madeWith: before },
    ...(at !== undefined && { ifHead: at }),
    // `after_seconds` may be fractional; times in the log are whole milliseconds.
    notBefore: request.after_seconds ? dueTime(context.clock) + Math.round(request.after_seconds * 1000) : 0,
  });
  const secret = renderSecret(actor);
  const dispatch = (...commands: ThreadCommand[]) =>
    context.threads.dispatch(target, commands, {
      startsAtOnce,
      isNew: threadId === undefined && slot === undefined,
      ...(slot && { extraAppends: [slot.slotFact] }),
      ...(idempotencyKey && { commandId: idempotencyKey.key }),
      payloads: [
        ...(secret === undefined ? [] : [{ kind: 'secret', runId, threadId: target, data: secret } as const]),
        ...(idempotencyKey === undefined
          ? []
          : [{ kind: 'request', ...idempotencyKey, runId, threadId: target } as const]),
      ],
    });
  /** Finds the placement again after every concurrency conflict. */
  async function dispatchAnswer(): Promise<Dispatched> {
    for (let attempt = 1; ; attempt++) {
      const done = await dispatch(create(await findResumePlacement(context, target, answerOf(kwargs))));
      if (done.ok || done.refusal.code !== 'thread-changed' || attempt === MAX_TRIES) return done;
    }
  }
  const onKnown = (): Promise<Dispatched> =>
    ifHead === undefined && isAnswer(request) ? dispatchAnswer() : dispatch(create());

  async function accept(): Promise<Created['run'] | undefined> {
    let done =
      visible === undefined
        ? await dispatch(
            await newThread(context, actor, target, metadata, threadId === undefined, kwargs),
            create(),
          )
        : await onKnown();
    // A concurrent request has created the thread, or it exists and the caller may not read it.
    if (!done.ok && done.refusal.code === 'thread-exists') {
      if ((await getThread(context.log.rows, target, granted.filter)) === undefined) throw noThread(target);
      done = await onKnown();
    }
    if (!done.ok && done.refusal.code === 'thread-changed') throw new ConcurrencyConflict();
    if (!done.ok) throw refused(done.refusal, target);
    // The events of a repeated command id are those of the first request.
    const isOurs = done.events.some(({ type, data }) => type === 'RunCreated' && data.runId === runId);
    return isOurs ? { runId, threadId: target } : undefined;
  }

  return async () => {
    // A concurrent request with the same key may have been accepted meanwhile.
    const again = async (): Promise<Created['run'] | undefined> => {
      const first = idempotencyKey && (await findAccepted(context.log, idempotencyKey));
      return first && findAgain(context, actor, request, first);
    };
    const run =
      (await accept().catch(async (error: unknown) => {
        const other = await again();
        if (other === undefined) throw error;
        return other;
      })) ?? (await again());
    if (run === undefined) throw new Error(`run ${runId} was accepted and cannot be found`);
    return { run, request };
  };
}

const authoriseRun = (
  context: ServerContext,
  actor: Actor,
  request: RunCreate,
  run: {
    /** Undefined for a stateless run. */
    readonly threadId: string | undefined;
    readonly assistantId: string;
    readonly runId: string;
    readonly kwargs: RunKwargs;
  },
): Promise<Granted> =>
  authorise(context, actor, 'threads:create_run', {
    thread_id: run.threadId ?? null,
    assistant_id: run.assistantId,
    run_id: run.runId,
    status: 'pending',
    metadata: request.metadata ?? {},
    prevent_insert_if_inflight: request.multitask_strategy === 'reject',
    multitask_strategy: request.multitask_strategy,
    if_not_exists: request.if_not_exists ?? (run.threadId === undefined ? 'create' : 'reject'),
    after_seconds: request.after_seconds ?? 0,
    kwargs: { ...toKwargs(run.kwargs, {}), config: run.kwargs.config },
  });

/** The run of an earlier acceptance. Throws a 404 when it is gone or the caller may not create it any more. */
async function findAgain(
  context: ServerContext,
  actor: Actor,
  request: RunCreate,
  { runId }: AcceptedRequest,
): Promise<RunRecord> {
  const run = await getRun(context.log.rows, runId);
  if (run === undefined) throw noRun();
  const { filter } = await authoriseRun(context, actor, request, run);
  const visible = await getRun(context.log.rows, runId, { filter });
  if (visible === undefined) throw noRun();
  return visible;
}

/** Throws a 404 for a missing or hidden assistant, and as `checkServed` if its graph is not served. */
export async function findAssistantToRun(
  context: ServerContext,
  actor: Actor,
  given: string,
): Promise<AssistantRecord> {
  const { rows } = context.log;
  const assistantId = toAssistantId(given);
  const found = await getAssistant(rows, assistantId);
  // A3 The handler is asked about missing assistants too: otherwise its call would reveal which ids exist.
  if (found?.system !== true) {
    const { filter } = await authorise(context, actor, 'assistants:read', { assistant_id: assistantId });
    if (found === undefined || (await getAssistant(rows, assistantId, filter)) === undefined)
      throw noAssistantFor(given);
  }
  checkServed(context, found.graphId);
  return found;
}

async function newThread(
  context: ServerContext,
  actor: Actor,
  threadId: string,
  metadata: JsonObject,
  stateless: boolean,
  kwargs: RunKwargs,
): Promise<ThreadCommand> {
  const temporary = stateless && kwargs.onCompletion === 'delete';
  const ttl = temporary ? undefined : context.defaultTtl;
  // `threads:create_run` covers the thread of a stateless run; a named thread needs `threads:create` as well.
  if (stateless) return { type: 'CreateThread', threadId, metadata, temporary, ...(ttl && { ttl }) };
  const granted = await authorise(context, actor, 'threads:create', {
    thread_id: threadId,
    metadata,
    if_exists: 'do_nothing',
  });
  return {
    type: 'CreateThread',
    ...{ threadId, metadata: grantedMetadata(granted), temporary, ...(ttl && { ttl }) },
  };
}
