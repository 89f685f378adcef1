/** Routes that create, update, roll back and delete assistants. */
import { Hono } from 'hono';
import { systemAssistantId } from '../../actors/assistants.ts';
import type { AssistantCommand } from '../../assistant/decide.ts';
import type { AssistantContent } from '../../assistant/events.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { getAssistant } from '../../projections/assistant-queries.ts';
import { getVersion } from '../../projections/assistant-versions.ts';
import { authorise } from '../access.ts';
import {
  findAssistant,
  findAssistantToChange,
  grantedChanges,
  refusedChange,
  toAssistantId,
} from './access.ts';
import { deleteAssistant } from './deletion.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { assistantExists, noContent, noVersion } from '../replies.ts';
import { assistantCreate, assistantDeletion, assistantPatch, versionChoice } from './schemas.ts';
import { mirror } from '../runs/settings.ts';
import { check } from '../check.ts';
import { checkServed } from './served-graph.ts';
import { toAssistant } from '../serializers.ts';

export function assistantChangeRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, graphs, ids } = context;

  const checkGraph = (graphId: string | undefined): void => {
    if (graphId !== undefined) checkServed(context, graphId);
  };

  async function change(assistantId: string, command: AssistantCommand): Promise<JsonObject> {
    const done = await context.assistants.dispatch(assistantId, command);
    if (!done.ok) throw refusedChange(done.refusal);
    return toAssistant(await findAssistant(context, assistantId, undefined));
  }

  app.post('/assistants', async (c) => {
    const { assistant_id: wanted, if_exists: ifExists, ...rest } = check(assistantCreate, c.var.body ?? {});
    const assistantId = wanted ?? ids.uuid();
    const settings = mirror({ config: rest.config ?? {}, context: rest.context ?? {} });
    const granted = await authorise(context, c.var.actor, 'assistants:create', {
      ...defined({ ...rest, ...settings }),
      assistant_id: assistantId,
      metadata: rest.metadata ?? {},
      if_exists: ifExists ?? 'raise',
      name: rest.name ?? UNTITLED,
      description: rest.description ?? null,
    });
    const changes = grantedChanges(granted);
    const content: AssistantContent = { ...DEFAULT_CONTENT, graphId: rest.graph_id, ...changes };
    checkGraph(content.graphId);
    // Ids of system assistants are reserved, also after the assistant is deleted.
    const reserved = graphs.graphIds.some((graphId) => systemAssistantId(graphId) === assistantId);
    if (!reserved) {
      const command = { type: 'CreateAssistant', assistantId, content, system: false } as const;
      const done = await context.assistants.dispatch(assistantId, command);
      if (done.ok) return c.json(toAssistant(await findAssistant(context, assistantId, undefined)));
    }
    const existing =
      ifExists === 'do_nothing' ? await getAssistant(log.rows, assistantId, granted.filter) : undefined;
    // A3 The assistant of another user: the reply reveals only that the id is taken.
    if (existing === undefined) throw assistantExists();
    return c.json(toAssistant(existing));
  });

  app.patch('/assistants/:id', async (c) => {
    const assistantId = toAssistantId(c.req.param('id'));
    const body = check(assistantPatch, c.var.body ?? {});
    const settings = mirror({ config: body.config ?? {}, context: body.context });
    // An empty config changes nothing, like a missing one.
    const isNamed = body.config !== undefined && Object.keys(body.config).length > 0;
    const isMirrored = !isNamed && settings.config['configurable'] !== undefined;
    const wanted = isNamed || isMirrored ? settings.config : undefined;
    const granted = await authorise(context, c.var.actor, 'assistants:update', {
      ...defined({ ...body, ...settings, config: wanted }),
      assistant_id: assistantId,
      metadata: body.metadata ?? {},
    });
    const { metadata, config } = await findAssistantToChange(context, assistantId, granted.filter);
    const changed = grantedChanges(granted, metadata);
    // Only `configurable` was copied from `context`: the other members of the config stay.
    const changes = isMirrored ? { ...changed, config: { ...config, ...changed.config } } : changed;
    checkGraph(changes.graphId);
    return c.json(await change(assistantId, { type: 'UpdateAssistant', changes }));
  });

  app.post('/assistants/:id/latest', async (c) => {
    const assistantId = toAssistantId(c.req.param('id'));
    // The API documents a query parameter, but its clients send a body.
    const inQuery = readQuery(c.req.url, { version: 'number' });
    const body = c.var.body ?? {};
    const given = isObject(body) ? { version: body['version'] ?? inQuery['version'] } : body;
    const { version } = check(versionChoice, given);
    const { filter } = await authorise(context, c.var.actor, 'assistants:update', {
      assistant_id: assistantId,
      version,
    });
    await findAssistantToChange(context, assistantId, filter);
    if (getVersion(log.rows, assistantId, version, filter) === undefined) throw noVersion();
    return c.json(await change(assistantId, { type: 'SetAssistantVersion', version }));
  });

  app.delete('/assistants/:id', async (c) => {
    const assistantId = toAssistantId(c.req.param('id'));
    const query = readQuery(c.req.url, { delete_threads: 'boolean' });
    const { delete_threads: withThreads } = check(assistantDeletion, query);
    const { filter } = await authorise(context, c.var.actor, 'assistants:delete', {
      assistant_id: assistantId,
    });
    await findAssistantToChange(context, assistantId, filter);
    await deleteAssistant(context, c.var.actor, assistantId, withThreads === true);
    return noContent();
  });

  return app;
}

const UNTITLED = 'Untitled';
const DEFAULT_CONTENT = { name: UNTITLED, description: null, config: {}, context: {}, metadata: {} };

const defined = (record: object): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as JsonObject;
