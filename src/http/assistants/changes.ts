/** Endpoints that create, update, roll back and delete assistants. */
import type { Actor } from '../../auth/authenticate.ts';
import { systemAssistantId } from '../../actors/assistants.ts';
import type { AssistantCommand } from '../../assistant/decide.ts';
import type { AssistantContent } from '../../assistant/events.ts';
import type { AssistantState } from '../../assistant/state.ts';
import { defined, isObject } from '../../kernel/json.ts';
import { authorise } from '../access.ts';
import { check } from '../check.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, problems } from '../openapi/descriptions.ts';
import { assistantExists, jsonReply, noAssistant, noContent, noVersion } from '../replies.ts';
import { mirror } from '../runs/settings.ts';
import { findAssistantToChange, grantedChanges, refusedChange, toAssistantId } from './access.ts';
import { deleteAssistant } from './deletion.ts';
import {
  assistantCreate,
  assistantDeletion,
  assistantPatch,
  UNTITLED,
  versionChoice,
  versionQuery,
} from './schemas.ts';
import { checkServed } from './served-graph.ts';
import { assistant, toAssistant } from './shapes.ts';
import type { AssistantRecord } from '../../store/port/views/assistants.ts';

export const assistantChangeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/assistants',
    tag: 'assistants',
    summary: 'Create an assistant',
    body: assistantCreate,
    replies: { 200: json(assistant, 'The assistant'), ...problems(404, 409) },
    async handle({ context, actor, body }) {
      const { log, graphs, ids } = context;
      const { assistant_id: wanted, if_exists: ifExists, ...rest } = body;
      const assistantId = wanted ?? ids.uuid();
      const settings = mirror({ config: rest.config ?? {}, context: rest.context ?? {} });
      const granted = await authorise(context, actor, 'assistants:create', {
        ...defined({ ...rest, ...settings }),
        assistant_id: assistantId,
        metadata: rest.metadata ?? {},
        if_exists: ifExists,
        description: rest.description ?? null,
      });
      const changes = grantedChanges(granted);
      const content: AssistantContent = { ...DEFAULT_CONTENT, graphId: rest.graph_id, ...changes };
      checkServed(context, content.graphId);
      // Ids of system assistants are reserved, also after the assistant is deleted.
      const reserved = graphs.graphIds.some((graphId) => systemAssistantId(graphId) === assistantId);
      if (!reserved) {
        const command = { type: 'CreateAssistant', assistantId, content, system: false } as const;
        const done = await context.assistants.dispatch(assistantId, command, {
          by: actor.user?.identity,
        });
        if (done.ok) return changed(done);
      }
      const existing =
        ifExists === 'do_nothing' ? await log.views.assistants.get(assistantId, granted.filter) : undefined;
      // A3 The assistant of another user: the reply reveals only that the id is taken.
      if (existing === undefined) throw assistantExists();
      return jsonReply(toAssistant(existing));
    },
  }),
  endpoint({
    method: 'patch',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Change an assistant: a new version',
    description: '`metadata` is merged key by key; every other member replaces the old one.',
    body: assistantPatch,
    replies: { 200: json(assistant, 'The assistant'), ...problems(404) },
    async handle({ context, actor, params, body }) {
      const assistantId = toAssistantId(params.assistant_id);
      const settings = mirror({ config: body.config ?? {}, context: body.context });
      // An empty config changes nothing, like a missing one.
      const isNamed = body.config !== undefined && Object.keys(body.config).length > 0;
      const isMirrored = !isNamed && settings.config['configurable'] !== undefined;
      const wanted = isNamed || isMirrored ? settings.config : undefined;
      const granted = await authorise(context, actor, 'assistants:update', {
        ...defined({ ...body, ...settings, config: wanted }),
        assistant_id: assistantId,
        metadata: body.metadata ?? {},
      });
      const before = await findAssistantToChange(context, assistantId, granted.filter);
      const wished = grantedChanges(granted, before.metadata);
      // Only `configurable` was copied from `context`: the other members of the config stay.
      const changes = isMirrored ? { ...wished, config: { ...before.config, ...wished.config } } : wished;
      if (changes.graphId !== undefined) checkServed(context, changes.graphId);
      return change(context, actor, before, { type: 'UpdateAssistant', changes });
    },
  }),
  endpoint({
    method: 'post',
    path: '/assistants/{assistant_id}/latest',
    tag: 'assistants',
    summary: 'Set an earlier version as the assistant',
    description: 'The query may name the version instead of the body.',
    query: versionQuery,
    describedBody: versionChoice.optional(),
    replies: { 200: json(assistant, 'The assistant, with the content of the version'), ...problems(404) },
    async handle({ context, actor, params, query, c }) {
      const assistantId = toAssistantId(params.assistant_id);
      const body = c.var.body ?? {};
      const given = isObject(body) ? { version: body['version'] ?? query.version } : body;
      const { version } = check(versionChoice, given);
      const { filter } = await authorise(context, actor, 'assistants:update', {
        assistant_id: assistantId,
        version,
      });
      const before = await findAssistantToChange(context, assistantId, filter);
      if ((await context.log.views.assistants.version(assistantId, version, filter)) === undefined)
        throw noVersion();
      return change(context, actor, before, { type: 'SetAssistantVersion', version });
    },
  }),
  endpoint({
    method: 'delete',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Delete an assistant for good',
    query: assistantDeletion,
    replies: { 204: nothing('Deleted'), ...problems(404, 409) },
    async handle({ context, actor, params, query }) {
      const assistantId = toAssistantId(params.assistant_id);
      const { filter } = await authorise(context, actor, 'assistants:delete', { assistant_id: assistantId });
      await findAssistantToChange(context, assistantId, filter);
      await deleteAssistant(context, actor, assistantId, query.delete_threads);
      return noContent();
    },
  }),
];

const DEFAULT_CONTENT = { name: UNTITLED, description: null, config: {}, context: {}, metadata: {} };

async function change(
  context: ServerContext,
  actor: Actor,
  { assistantId, createdAt }: AssistantRecord,
  command: AssistantCommand,
): Promise<Response> {
  const done = await context.assistants.dispatch(assistantId, command, { by: actor.user?.identity });
  if (!done.ok) throw refusedChange(done.refusal);
  return changed(done, createdAt);
}

/** The assistant as the change left it: others may have changed it since. */
function changed({ state, at }: { state: AssistantState; at: number }, createdAt = at): Response {
  if (state.status !== 'living') throw noAssistant();
  const { content, assistantId, version, system } = state;
  return jsonReply(toAssistant({ ...content, assistantId, version, system, createdAt, updatedAt: at }));
}
