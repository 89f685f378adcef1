/**
 * What a run is asked to do, from the request and the assistant.
 *
 * `config.configurable`: the assistant's, then the request's, then what only the server sets; of `config.metadata` and
 * `context` the same. Everything else of `config` is the request's where it has it, else the assistant's.
 * A4 Clients can read this: it never holds more of the user than the identity.
 */
import type { Actor } from '../auth/authenticate.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { AssistantRecord } from '../projections/assistant-queries.ts';
import type { RunKwargs } from '../thread/events.ts';
import type { RunCreate } from './schemas/runs.ts';

/** Keys that only the server sets: a client's are dropped, so that graph code can trust them. */
const RESERVED = /^(__|platform_auth_|langgraph_auth_)/;

export function toRunKwargs(
  actor: Actor,
  request: RunCreate,
  assistant: AssistantRecord,
  ids: { readonly runId: string; readonly threadId: string; readonly temporary: boolean },
): RunKwargs {
  const given = defined(request.config ?? {});
  const own = assistant.config;
  const context = mergeContext(assistant.context, request.context);
  const { interrupt_before: before, interrupt_after: after, webhook, feedback_keys: feedbackKeys } = request;
  const durability = request.durability ?? durabilityOf(request.checkpoint_during);
  return {
    input: request.command === undefined ? (request.input ?? null) : null,
    ...(request.command && { command: commandOf(request.command) }),
    config: {
      ...own,
      ...given,
      metadata: { ...asObject(own['metadata']), ...asObject(given['metadata']) },
      configurable: toConfigurable(actor, request, assistant, ids),
    },
    context,
    streamMode: request.stream_mode,
    streamSubgraphs: request.stream_subgraphs ?? false,
    ...(before !== undefined && { interruptBefore: before }),
    ...(after !== undefined && { interruptAfter: after }),
    ...(durability !== undefined && { durability }),
    ...(feedbackKeys !== undefined && { feedbackKeys }),
    ...(webhook !== undefined && { webhook }),
    onCompletion: ids.temporary ? 'delete' : 'keep',
  };
}

/** Members that were not given are left out: they would be stored as undefined. */
export const commandOf = (command: NonNullable<RunCreate['command']>): JsonObject => defined(command);

function toConfigurable(
  actor: Actor,
  { config, checkpoint_id: id, checkpoint, langsmith_tracer: tracer }: RunCreate,
  assistant: AssistantRecord,
  ids: { readonly runId: string; readonly threadId: string },
): JsonObject {
  const own = asObject(assistant.config['configurable']);
  const given = config?.configurable ?? {};
  const free = Object.entries({ ...own, ...given }).filter(([key]) => !RESERVED.test(key));
  const userId = given['user_id'] ?? own['user_id'] ?? actor.user?.identity;
  const { checkpoint_id: forkId = id, checkpoint_ns: ns, checkpoint_map: map } = checkpoint ?? {};
  return defined({
    ...Object.fromEntries(free),
    ...(forkId !== undefined && { checkpoint_id: forkId }),
    ...(ns !== undefined && { checkpoint_ns: ns }),
    ...(map !== undefined && { checkpoint_map: map }),
    ...(tracer?.project_name !== undefined && { langsmith_project: tracer.project_name }),
    ...(tracer?.example_id !== undefined && { langsmith_example_id: tracer.example_id }),
    ...(userId !== undefined && { user_id: userId }),
    run_id: ids.runId,
    thread_id: ids.threadId,
    graph_id: assistant.graphId,
    assistant_id: assistant.assistantId,
  });
}

/**
 * An assistant's context that is no object is not mixed with anything: it wins. Where nobody gives one it is `{}`, as
 * the assistant shows it: graphs read its members without asking whether there is one.
 */
function mergeContext(own: Json, given: Json | undefined): Json {
  if (own === null || (isObject(own) && Object.keys(own).length === 0)) return given ?? {};
  if (given === undefined || !isObject(own)) return own;
  return isObject(given) ? { ...own, ...given } : given;
}

const durabilityOf = (during: boolean | undefined): string | undefined =>
  during === undefined ? undefined : during ? 'async' : 'exit';

const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Without the members that are undefined: they would hide the assistant's. */
const defined = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
