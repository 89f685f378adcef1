/**
 * Checks a request that creates a run, for all routes, commands and crons that create runs. Writes nothing.
 *
 * A2 The thread is looked up through the filter of `threads:create_run`. A4 The user, inherited headers and settings with
 * keys go into the run's secret row; kwargs, which clients can read, never hold them.
 */
import type { Actor } from '../../auth/authenticate.ts';
import type { CronOrder } from '../../actors/crons.ts';
import type { MadeWith } from '../../graphs/port.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { AcceptedRequest } from '../../store/port/payloads.ts';
import type { RunKwargs, RunRef } from '../../thread/events.ts';
import type { RunSecret } from '../../thread/secret.ts';
import { authorise, grantedMetadata, type Granted } from '../access.ts';
import { toAssistantId } from '../assistants/access.ts';
import { checkStillServed } from '../assistants/served-graph.ts';
import type { ServerContext } from '../context.ts';
import { noAssistantFor, noRun, noThread, noThreadToResume } from '../replies.ts';
import { checkStartCheckpoint, checkWebhook } from './checks.ts';
import { grantedKwargs, namesOf } from './granted-kwargs.ts';
import { findAccepted, type IdempotencyKey } from './idempotency.ts';
import { shownKwargs, toRunKwargs, withoutKeys } from './kwargs.ts';
import { settingsOfHead } from './made-with.ts';
import type { RunCreate } from './schemas.ts';
import type { AssistantRecord } from '../../store/port/views/assistants.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

/** Options that only some callers use. */
export interface RunExtras {
  readonly protocol?: 'v2';
  /** Refused with `ConcurrencyConflict` unless the thread is idle with this head. */
  readonly ifHead?: string | null;
  /** Refuses a strict answer: the interrupt ids that it names. */
  readonly lateAnswer?: readonly string[];
  /** If a request with this key was accepted before, its run is returned and nothing is created. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** The run may start before the reply. */
  readonly startsAtOnce?: boolean;
  /** Called before the run's commit. The returned function is called when that commit does not create the run. */
  readonly follow?: (run: RunRef) => () => void;
  /** Cron slot of the run: its ids, and a fact for the same commit. Throws `ConcurrencyConflict` when it is outdated. */
  readonly slot?: Pick<CronOrder, 'cron' | 'runId' | 'threadId' | 'slotFact'>;
}

/** A checked request: everything that its commit needs. */
export interface PreparedRun {
  readonly run: RunRef;
  readonly request: RunCreate;
  readonly extras: RunExtras;
  /** The run has a thread of its own, which is deleted at its end unless the request keeps it. */
  readonly isStateless: boolean;
  readonly assistant: AssistantRecord;
  readonly kwargs: RunKwargs;
  /** Settings with keys, which `kwargs` has masked. */
  readonly keys: Pick<RunSecret, 'configurable' | 'context'>;
  /** Settings that the thread's graph was made with, for a run that resumes it without settings. */
  readonly madeWith: MadeWith | undefined;
  /** The thread, if it exists and the caller may create runs on it. */
  readonly thread: ThreadRecord | undefined;
  /** The thread's metadata after the run's creation. */
  readonly metadata: JsonObject;
  readonly filter: Granted['filter'];
}

/** The run that an earlier request with the same idempotency key created. */
export interface EarlierRun {
  readonly earlier: RunRef;
  readonly request: RunCreate;
}

/** A run without `threadId` is stateless. Throws the refusal of an invalid request. */
export async function prepareRun(
  context: ServerContext,
  actor: Actor,
  checked: RunCreate,
  threadId?: string,
  extras: RunExtras = {},
): Promise<PreparedRun | EarlierRun> {
  const { protocol, idempotencyKey, slot, startsAtOnce = false } = extras;
  const asked = slot ? { ...checked, metadata: { ...checked.metadata, cron_id: slot.cron.cronId } } : checked;
  const earlier = idempotencyKey && (await findAccepted(context.log, idempotencyKey));
  if (earlier !== undefined)
    return { earlier: await findAgain(context, actor, asked, earlier), request: asked };
  const isStateless = threadId === undefined;
  // The new thread of a stateless run has no checkpoint to start from.
  const request = isStateless ? { ...asked, checkpoint: undefined, checkpoint_id: undefined } : asked;
  if (isStateless && slot === undefined && request.command?.resume !== undefined) throw noThreadToResume();
  checkWebhook(context, request.webhook);
  const assistant = await findAssistantToRun(context, actor, request.assistant_id);
  const { assistantId } = assistant;
  const run = {
    runId: slot?.runId ?? context.ids.uuid(),
    threadId: threadId ?? slot?.threadId ?? context.ids.uuid(),
  };
  const ids = {
    ...run,
    requestId: actor.requestId ?? context.ids.uuid(),
    temporary: isStateless && request.on_completion !== 'keep',
  };
  const requestedKwargs = toRunKwargs(actor, request, assistant, ids, context.budget);
  const ordered = protocol === undefined ? requestedKwargs : { ...requestedKwargs, protocol };
  const names = namesOf(ordered);
  const order = { threadId, assistantId, runId: run.runId, kwargs: ordered, startsAtOnce };
  const granted = await authoriseRun(context, actor, request, order);
  const { filter } = granted;
  // The handler gets the settings as they are, and may add keys.
  const { kwargs, keys } = withoutKeys(
    context.asksHandler ? grantedKwargs(ordered, names, granted.value['kwargs']) : ordered,
  );
  if (kwargs.webhook !== ordered.webhook) checkWebhook(context, kwargs.webhook);
  const thread = isStateless ? undefined : await context.log.views.threads.get(threadId, filter);
  if (thread === undefined && !isStateless && request.if_not_exists !== 'create') throw noThread(threadId);
  const metadata = grantedMetadata(granted, thread?.metadata);
  await checkStartCheckpoint(context, thread?.threadId, kwargs);
  const madeWith = thread && (await settingsOfHead(context.log, run.threadId, request));
  return { run, request, extras, isStateless, assistant, kwargs, keys, madeWith, thread, metadata, filter };
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
    readonly startsAtOnce?: boolean;
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
    // As the official server: of stateless runs only those that are streamed or waited for show `create`.
    if_not_exists:
      request.if_not_exists ?? (run.threadId === undefined && run.startsAtOnce ? 'create' : 'reject'),
    after_seconds: request.after_seconds ?? 0,
    kwargs: { ...shownKwargs(run.kwargs, {}), config: run.kwargs.config },
  });

/** The run of an earlier acceptance. Throws a 404 when it is gone or the caller may not create it any more. */
export async function findAgain(
  context: ServerContext,
  actor: Actor,
  request: RunCreate,
  { runId }: AcceptedRequest,
): Promise<RunRecord> {
  const run = await context.log.views.runs.get(runId);
  if (run === undefined) throw noRun();
  const { filter } = await authoriseRun(context, actor, request, run);
  const visible = await context.log.views.runs.get(runId, { filter });
  if (visible === undefined) throw noRun();
  return visible;
}

/** Throws a 404 for a missing or hidden assistant, and as `checkStillServed` if its graph is not served. */
export async function findAssistantToRun(
  context: ServerContext,
  actor: Actor,
  given: string,
): Promise<AssistantRecord> {
  const { assistants } = context.log.views;
  const assistantId = toAssistantId(given);
  const found = await assistants.get(assistantId);
  // A3 The handler is asked about missing assistants too: otherwise its call would reveal which ids exist.
  if (found?.system !== true) {
    const { filter } = await authorise(context, actor, 'assistants:read', { assistant_id: assistantId });
    if (found === undefined || (await assistants.get(assistantId, filter)) === undefined)
      throw noAssistantFor(given);
  }
  checkStillServed(context, found.graphId);
  return found;
}
