/** Creates a thread, empty or from supersteps; the creation and all supersteps are one commit. */
import type { Actor } from '../../auth/authenticate.ts';
import { matchesFilter } from '../../kernel/filter.ts';
import type { Dispatched } from '../../actors/threads.ts';
import type { CheckpointReader } from '../../graphs/port.ts';
import type { GraphUpdate } from '../../graphs/state-port.ts';
import { defined, type JsonObject } from '../../kernel/json.ts';
import type { ThreadCommand } from '../../thread/decide.ts';
import { threadStream, type Ttl } from '../../thread/events.ts';
import { authorise } from '../access.ts';
import { checkServed } from '../assistants/served-graph.ts';
import type { ServerContext } from '../context.ts';
import { noGraphId, notAuthorized } from '../replies.ts';
import type { Supersteps } from './state-schemas.ts';
import { computeUpdate } from './state-update.ts';
import { findThreadGraph } from './thread-graph.ts';

export interface NewThread {
  readonly threadId: string;
  /** The server has generated the id, so the thread cannot exist. */
  readonly isNew: boolean;
  readonly metadata: JsonObject;
  readonly supersteps: Supersteps | undefined;
  readonly ttl: Ttl | undefined;
}

const NO_CHECKPOINTS: CheckpointReader = { load: async () => undefined, list: async () => [] };

/** Ignores the supersteps if the thread exists. Throws a 400 when supersteps come without a graph id. */
export async function createThread(
  context: ServerContext,
  actor: Actor,
  { threadId, isNew, metadata, supersteps = [], ttl }: NewThread,
): Promise<Dispatched> {
  const create: ThreadCommand = {
    type: 'CreateThread',
    ...{ threadId, metadata, temporary: false, ...(ttl && { ttl }) },
  };
  const plain = supersteps.length === 0 || (await exists(context, threadId));
  if (plain) return context.threads.dispatch(threadId, [create], { isNew, by: actor.user?.identity });
  const granted = await authorise(context, actor, 'threads:update', { thread_id: threadId, metadata });
  // Supersteps are a state update of a thread with this metadata, so the filter of `threads:update` must match it.
  if (granted.filter !== undefined && !matchesFilter(metadata, granted.filter)) throw notAuthorized();
  const graph = await findThreadGraph(context, actor, threadId, metadata);
  if (graph === undefined) throw noGraphId(threadId);
  checkServed(context, graph.graphId);
  const { command, payloads } = await computeUpdate(
    context,
    actor,
    { threadId, graph, ns: '', supersteps: supersteps.map(toUpdates) },
    NO_CHECKPOINTS,
  );
  return context.threads.dispatch(threadId, [create, command], { payloads, by: actor.user?.identity });
}

const exists = async ({ log }: ServerContext, threadId: string): Promise<boolean> =>
  (await log.streamVersion(threadStream(threadId))) > 0;

const toUpdates = ({ updates }: Supersteps[number]): GraphUpdate[] =>
  updates.map(({ values = null, command, as_node }) => ({
    values,
    ...(as_node !== undefined && { asNode: as_node }),
    ...(command !== undefined && { command: defined(command) }),
  }));
