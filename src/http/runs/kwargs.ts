/**
 * Kwargs of a run: what it was created with, built from its request and its assistant, and as clients see them.
 *
 * `settings.ts` merges the settings, which server-set members of `configurable` override. A4 Clients can read kwargs: of
 * the user they hold only the identity.
 */
import type { Actor } from '../../auth/authenticate.ts';
import { maskUrl } from '../../delivery/mask.ts';
import { defined, isObject, type JsonObject } from '../../kernel/json.ts';
import { maskKeys, membersWithKeys } from '../../kernel/key-names.ts';
import type { RunKwargs } from '../../thread/events.ts';
import type { RunSecret } from '../../thread/secret.ts';
import type { Budget } from '../../thread/usage.ts';
import { smallestBudget } from './budget.ts';
import { underRun } from './settings.ts';
import type { RunCreate } from './schemas.ts';
import type { AssistantRecord } from '../../store/port/views/assistants.ts';

/** Keys that only the server sets: those of clients are dropped, so that graph code can trust them. */
const RESERVED = /^(__|platform_auth_|langgraph_auth_)/;

interface RunIds {
  readonly runId: string;
  readonly threadId: string;
  /** Id of the HTTP request that creates the run. */
  readonly requestId: string;
}

export function toRunKwargs(
  actor: Actor,
  request: RunCreate,
  assistant: AssistantRecord,
  ids: RunIds & { readonly temporary: boolean },
  deployment?: Budget,
): RunKwargs {
  const given = { config: defined(request.config ?? {}), context: request.context };
  const { config, context } = underRun(assistant, given);
  const budget = smallestBudget(
    deployment,
    assistant.config['budget'],
    given.config['budget'],
    request.budget,
  );
  const { interrupt_before: before, interrupt_after: after, webhook, feedback_keys: feedbackKeys } = request;
  const durability = request.durability ?? durabilityOf(request.checkpoint_during);
  return {
    input: request.command === undefined ? (request.input ?? null) : null,
    ...(request.command && { command: defined(request.command) }),
    ...(request.strict_resume === true && { strictResume: true }),
    config: {
      ...config,
      ...(budget && { budget: { ...budget } }),
      configurable: toConfigurable(config, actor, request, assistant, ids),
    },
    context,
    streamMode: request.stream_mode,
    streamSubgraphs: request.stream_subgraphs,
    ...(before !== undefined && { interruptBefore: before }),
    ...(after !== undefined && { interruptAfter: after }),
    ...(durability !== undefined && { durability }),
    ...(request.checkpoint_during !== undefined && { checkpointDuring: request.checkpoint_during }),
    ...(request.stream_resumable !== undefined && { resumable: request.stream_resumable }),
    ...(feedbackKeys !== undefined && { feedbackKeys }),
    ...(webhook !== undefined && { webhook }),
    onCompletion: ids.temporary ? 'delete' : 'keep',
    ...(request.on_cancel !== undefined && { onCancel: request.on_cancel }),
  };
}

/** A4 Takes keys out of the settings, for the run's secret row. */
export function withoutKeys(kwargs: RunKwargs): {
  readonly kwargs: RunKwargs;
  readonly keys: Pick<RunSecret, 'configurable' | 'context'>;
} {
  const { config, context = null } = kwargs;
  const configurable = membersWithKeys(config['configurable'] ?? null);
  const inContext = membersWithKeys(context);
  return {
    kwargs: {
      ...kwargs,
      ...(configurable && { config: { ...config, configurable: maskKeys(config['configurable']!) } }),
      ...(inContext && { context: maskKeys(context) }),
    },
    keys: { ...(configurable && { configurable }), ...(inContext && { context: inContext }) },
  };
}

export const DEFAULT_DURABILITY = 'async';

/** Kwargs by their wire names. `metadata` is that of the run; it overrides `config.metadata`. A4 The webhook's URL is masked. */
export function shownKwargs(kwargs: RunKwargs, metadata: JsonObject): JsonObject {
  return {
    input: kwargs.input,
    command: kwargs.command ?? null,
    ...(kwargs.strictResume === true && { strict_resume: true }),
    config: {
      ...kwargs.config,
      metadata: { ...(kwargs.config['metadata'] as JsonObject | undefined), ...metadata },
    },
    context: kwargs.context ?? {},
    stream_mode: [...kwargs.streamMode],
    interrupt_before: kwargs.interruptBefore ?? null,
    interrupt_after: kwargs.interruptAfter ?? null,
    webhook: kwargs.webhook === undefined ? null : maskUrl(kwargs.webhook),
    feedback_keys: kwargs.feedbackKeys === undefined ? null : [...kwargs.feedbackKeys],
    subgraphs: kwargs.streamSubgraphs,
    resumable: kwargs.resumable ?? false,
    temporary: kwargs.onCompletion === 'delete',
    ...(kwargs.onCancel !== undefined && { on_cancel: kwargs.onCancel }),
    checkpoint_during: kwargs.checkpointDuring ?? true,
    durability: kwargs.durability ?? DEFAULT_DURABILITY,
  };
}

function toConfigurable(
  config: JsonObject,
  actor: Actor,
  { checkpoint_id: id, checkpoint, langsmith_tracer: tracer }: RunCreate,
  assistant: AssistantRecord,
  ids: RunIds,
): JsonObject {
  const given = config['configurable'] as JsonObject;
  const free = Object.entries(given).filter(([key]) => !RESERVED.test(key));
  const own = assistant.config['configurable'];
  const userId = given['user_id'] ?? (isObject(own) ? own['user_id'] : undefined) ?? actor.user?.identity;
  const { checkpoint_id: forkId = id, checkpoint_ns: ns, checkpoint_map: map } = checkpoint ?? {};
  return defined({
    ...Object.fromEntries(free),
    ...(forkId !== undefined && { checkpoint_id: forkId }),
    ...(ns !== undefined && { checkpoint_ns: ns }),
    ...(map !== undefined && { checkpoint_map: map }),
    ...(tracer?.project_name !== undefined && { langsmith_project: tracer.project_name }),
    ...(tracer?.example_id !== undefined && { langsmith_example_id: tracer.example_id }),
    ...(userId !== undefined && { user_id: userId }),
    langgraph_request_id: ids.requestId,
    run_id: ids.runId,
    thread_id: ids.threadId,
    graph_id: assistant.graphId,
    assistant_id: assistant.assistantId,
  });
}

const durabilityOf = (during: boolean | undefined): string | undefined =>
  during === undefined ? undefined : during ? 'async' : 'exit';
