/** Finds the graph that reads a thread's states, and the config of its assistant. */
import type { Actor } from '../../auth/authenticate.ts';
import { systemAssistantId } from '../../actors/assistants.ts';
import type { CheckpointReader, GraphConfig } from '../../graphs/port.ts';
import { isUuid } from '../../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { ServerContext } from '../context.ts';
import { madeWith } from '../runs/made-with.ts';
import type { AssistantRecord } from '../../store/port/views/assistants.ts';

export interface ThreadGraph {
  readonly graphId: string;
  readonly config: GraphConfig;
  readonly context?: Json;
  /** The caller. */
  readonly user?: JsonObject;
}

/**
 * The graph of the run that executed last on the thread, or on the thread that it is a copy of. A thread without runs
 * (created from supersteps) names its graph in its metadata. Undefined when there is no graph; it may not be served.
 */
export async function findThreadGraph(
  context: ServerContext,
  actor: Actor,
  threadId: string,
  metadata: JsonObject,
): Promise<ThreadGraph | undefined> {
  const { bound: last, runId = null } = (await context.log.views.runs.bound(threadId)) ?? {};
  const named = metadata['graph_id'];
  const graphId = last?.graphId ?? (typeof named === 'string' ? named : undefined);
  if (graphId === undefined) return undefined;
  const assistant = await (last === undefined
    ? namedAssistant(context, actor, metadata['assistant_id'])
    : context.log.views.assistants.get(last.assistantId));
  const used =
    assistant?.graphId === graphId
      ? assistant
      : await context.log.views.assistants.get(systemAssistantId(graphId));
  const configurable = used?.config['configurable'];
  const run = runId === null ? undefined : await context.log.views.runs.get(runId, { threadId });
  return {
    graphId,
    config: {
      configurable: isObject(configurable) ? configurable : {},
      ...(run !== undefined && { madeWith: madeWith(run) }),
      metadata: { graph_id: graphId, ...(used !== undefined && { assistant_id: used.assistantId }) },
    },
    ...(used !== undefined && { context: used.context }),
    ...(actor.user && { user: actor.user }),
  };
}

/** The assistant named in metadata, which clients write: undefined when the caller may not read it (A3). */
async function namedAssistant(
  { authorize, log }: ServerContext,
  actor: Actor,
  given: Json | undefined,
): Promise<AssistantRecord | undefined> {
  if (typeof given !== 'string' || !isUuid(given)) return undefined;
  const assistantId = given.toLowerCase();
  const found = await log.views.assistants.get(assistantId);
  if (found === undefined || found.system) return found;
  const granted = await authorize(actor, 'assistants:read', { assistant_id: assistantId });
  return granted.ok ? log.views.assistants.get(assistantId, granted.filter) : undefined;
}

export const checkpointsOf = ({ log }: ServerContext, threadId: string): CheckpointReader => ({
  load: (ns, checkpointId, choice) => log.payloads.checkpoint(threadId, ns, checkpointId, choice),
  list: (query) => log.payloads.checkpoints(threadId, query),
});
