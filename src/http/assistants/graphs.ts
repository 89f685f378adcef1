/** Routes that read an assistant's graph: its drawing, its JSON Schemas, its subgraphs. */
import { Hono, type Context } from 'hono';
import type { GraphOrder, GraphSchemas } from '../../graphs/schema-port.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { authorise } from '../access.ts';
import { findAssistant, toAssistantId } from './access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { invalid } from '../replies.ts';
import { checkServed } from './served-graph.ts';

export function assistantGraphRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { describer } = context;

  /** The graph with the assistant's config and context, which a graph factory is called with. */
  async function orderFor(c: Context<Env>): Promise<GraphOrder> {
    const assistantId = toAssistantId(c.req.param('id') ?? '');
    const { filter } = await authorise(context, c.var.actor, 'assistants:read', {
      assistant_id: assistantId,
    });
    const assistant = await findAssistant(context, assistantId, filter);
    const { graphId, config } = assistant;
    checkServed(context, graphId);
    const { configurable } = config;
    return { graphId, configurable: isObject(configurable) ? configurable : {}, context: assistant.context };
  }

  app.get('/assistants/:id/graph', async (c) => {
    const order = await orderFor(c);
    const { nodes, edges } = await describer.drawing(order, readDepth(new URL(c.req.url)));
    return c.json({ nodes, edges });
  });

  app.get('/assistants/:id/schemas', async (c) => {
    const order = await orderFor(c);
    return c.json(toSchemas(order.graphId, await describer.schemas(order)));
  });

  const subgraphs = async (c: Context<Env>, namespace?: string): Promise<Response> => {
    const order = await orderFor(c);
    const { recurse } = readQuery(c.req.url, { recurse: 'boolean' });
    const found = await describer.subgraphs({
      ...order,
      ...(namespace !== undefined && { namespace }),
      recurse: recurse === true,
    });
    return c.json(
      Object.fromEntries(
        Object.entries(found).map(([name, schemas]) => [name, toSubgraph(order.graphId, schemas)]),
      ),
    );
  };
  app.get('/assistants/:id/subgraphs', (c) => subgraphs(c));
  app.get('/assistants/:id/subgraphs/:namespace', (c) => subgraphs(c, c.req.param('namespace')));

  return app;
}

/** Depth of subgraphs to draw: `xray=true` means all levels, `xray=2` two. */
function readDepth(url: URL): boolean | number {
  const text = url.searchParams.get('xray') ?? '';
  if (/^-?\d{1,6}$/.test(text) && Number(text) < 1)
    throw invalid('xray: expected true, false, or 1 or more levels');
  if (/^\d{1,6}$/.test(text)) return Number(text);
  return readQuery(url.href, { xray: 'boolean' })['xray'] === true;
}

const toSchemas = (graphId: string, { input, output, state, config }: GraphSchemas): JsonObject => ({
  graph_id: graphId,
  input_schema: input,
  output_schema: output,
  state_schema: state,
  config_schema: config,
  context_schema: config,
});

/** Has each schema under two keys, as clients read either. */
const toSubgraph = (graphId: string, schemas: GraphSchemas): JsonObject => ({
  ...toSchemas(graphId, schemas),
  input: schemas.input,
  output: schemas.output,
  state: schemas.state,
  config: schemas.config,
});
