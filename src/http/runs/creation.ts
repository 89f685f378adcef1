/**
 * Creates a run from a request, for all routes, commands and crons that create runs: `prepareRun` checks the request,
 * `acceptRun` commits the run.
 */
import type { Actor } from '../../auth/authenticate.ts';
import type { Dispatched } from '../../actors/threads.ts';
import { dueTime } from '../../kernel/clock.ts';
import { interruptKeys } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { PayloadWrite } from '../../store/port/payloads.ts';
import type { ThreadCommand } from '../../thread/decide.ts';
import type { RunRef } from '../../thread/events.ts';
import type { Placement } from '../../thread/state.ts';
import { renderSecret } from '../../thread/secret.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { alreadyAnswered, ConcurrencyConflict, noRun, noThread, refused } from '../replies.ts';
import { findAccepted } from './idempotency.ts';
import { findAgain, prepareRun, type EarlierRun, type PreparedRun, type RunExtras } from './preparation.ts';
import { answerOf, findResumePlacement, isAnswer } from './resume-placement.ts';
import type { RunCreate } from './schemas.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

/** Maximum tries of an answer that meets concurrency conflicts. */
const MAX_TRIES = 5;

export interface Created {
  readonly run: RunRef;
  readonly request: RunCreate;
}

export const createRun = async (
  context: ServerContext,
  actor: Actor,
  request: RunCreate,
  threadId?: string,
  extras?: RunExtras,
): Promise<Created> => acceptRun(context, actor, await prepareRun(context, actor, request, threadId, extras));

/** Reads the created run's record. Throws a 404 when it is already deleted. */
export async function shownRun({ log }: ServerContext, { run }: Created): Promise<RunRecord> {
  const found = await log.views.runs.get(run.runId);
  if (found === undefined) throw noRun();
  return found;
}

/** Commits the run, unless a request with the same idempotency key was accepted before. */
export async function acceptRun(
  context: ServerContext,
  actor: Actor,
  prepared: PreparedRun | EarlierRun,
): Promise<Created> {
  const { request } = prepared;
  if ('earlier' in prepared) return { run: prepared.earlier, request };
  const { run, extras } = prepared;
  const unfollow = extras.follow?.(run);
  // A concurrent request with the same key may have been accepted meanwhile.
  const again = async (): Promise<RunRef | undefined> => {
    const first = extras.idempotencyKey && (await findAccepted(context.log, extras.idempotencyKey));
    return first && findAgain(context, actor, request, first);
  };
  let accepted: RunRef | undefined;
  try {
    accepted =
      (await commit(context, actor, prepared).catch(async (error: unknown) => {
        const other = await again();
        if (other === undefined) throw error;
        return other;
      })) ?? (await again());
  } finally {
    if (accepted !== run) unfollow?.();
  }
  if (accepted === undefined) throw new Error(`run ${run.runId} was accepted and cannot be found`);
  return { run: accepted, request };
}

/** Undefined when an earlier request with the same idempotency key was accepted instead. */
async function commit(
  context: ServerContext,
  actor: Actor,
  prepared: PreparedRun,
): Promise<RunRef | undefined> {
  const { run, thread, filter } = prepared;
  let done =
    thread === undefined
      ? await dispatch(context, actor, prepared, [
          await newThread(context, actor, prepared),
          toCommand(context, prepared),
        ])
      : await dispatchOnThread(context, actor, prepared);
  // A concurrent request has created the thread, or it exists and the caller may not read it.
  if (!done.ok && done.refusal.code === 'thread-exists') {
    if ((await context.log.views.threads.get(run.threadId, filter)) === undefined)
      throw noThread(run.threadId);
    done = await dispatchOnThread(context, actor, prepared);
  }
  if (!done.ok && done.refusal.code === 'thread-changed') throw new ConcurrencyConflict();
  if (!done.ok) throw refused(done.refusal, run.threadId);
  // The events of a repeated command id are those of the first request.
  const isOurs = done.events.some(({ type, data }) => type === 'RunCreated' && data.runId === run.runId);
  return isOurs ? run : undefined;
}

/** Finds the placement of an answer again after every concurrency conflict. Throws a 409 for one without a placement. */
async function dispatchOnThread(
  context: ServerContext,
  actor: Actor,
  prepared: PreparedRun,
): Promise<Dispatched> {
  const { run, request, kwargs, extras } = prepared;
  if (extras.ifHead !== undefined || !isAnswer(request))
    return dispatch(context, actor, prepared, [toCommand(context, prepared)]);
  for (let attempt = 1; ; attempt++) {
    const answer = answerOf(kwargs);
    const placement = await findResumePlacement(context, run.threadId, answer);
    if (placement === undefined && kwargs.strictResume !== true) throw alreadyAnswered();
    const late = { ...extras, lateAnswer: interruptKeys(answer.resume) ?? [] };
    const placed = placement === undefined ? { ...prepared, extras: late } : prepared;
    const done = await dispatch(context, actor, prepared, [toCommand(context, placed, placement)]);
    if (done.ok || done.refusal.code !== 'thread-changed' || attempt === MAX_TRIES) return done;
  }
}

function dispatch(
  context: ServerContext,
  actor: Actor,
  { run, keys, isStateless, extras: { idempotencyKey, slot, startsAtOnce = false } }: PreparedRun,
  commands: readonly ThreadCommand[],
): Promise<Dispatched> {
  const secret = renderSecret({ ...actor, ...keys });
  const payloads: PayloadWrite[] = [
    ...(secret === undefined ? [] : [{ kind: 'secret', ...run, data: secret } as const]),
    ...(idempotencyKey === undefined ? [] : [{ kind: 'request', ...idempotencyKey, ...run } as const]),
  ];
  return context.threads.dispatch(run.threadId, commands, {
    by: actor.user?.identity,
    startsAtOnce,
    isNew: isStateless && slot === undefined,
    ...(slot && { extraAppends: [slot.slotFact] }),
    ...(idempotencyKey && { commandId: idempotencyKey.key }),
    payloads,
  });
}

function toCommand(
  { clock }: ServerContext,
  { run: { runId }, request, isStateless, assistant, kwargs, madeWith, metadata, extras }: PreparedRun,
  placement: Placement = extras.ifHead === undefined ? {} : { ifHead: extras.ifHead, ifOpen: [] },
): ThreadCommand {
  const { assistantId, graphId } = assistant;
  const { multitask_strategy: strategy, after_seconds: afterSeconds } = request;
  return {
    ...{ type: 'CreateRun', runId, assistantId, graphId, strategy },
    assistantMetadata: assistant.metadata,
    ownMetadata: {
      ...(!isStateless && { graph_id: graphId }),
      ...(kwargs.config['metadata'] as JsonObject),
      assistant_id: assistantId,
    },
    metadata,
    kwargs: {
      ...kwargs,
      ...(madeWith !== undefined && { madeWith }),
      ...(extras.lateAnswer && { lateAnswer: extras.lateAnswer }),
    },
    ...placement,
    // `after_seconds` may be fractional; times in the log are whole milliseconds.
    notBefore: afterSeconds ? dueTime(clock) + Math.round(afterSeconds * 1000) : 0,
  };
}

async function newThread(
  context: ServerContext,
  actor: Actor,
  { run: { threadId }, metadata, isStateless, kwargs }: PreparedRun,
): Promise<ThreadCommand> {
  const temporary = isStateless && kwargs.onCompletion === 'delete';
  const ttl = temporary ? undefined : context.defaultTtl;
  // `threads:create_run` covers the thread of a stateless run; a named thread needs `threads:create` as well.
  if (isStateless) return { type: 'CreateThread', threadId, metadata, temporary, ...(ttl && { ttl }) };
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
