/** Endpoints that read an assistant's graph: its drawing, its JSON Schemas, its subgraphs. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import type { GraphOrder } from '../../graphs/schema-port.ts';
import { isObject } from '../../kernel/json.ts';
import { authorise } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, problems } from '../openapi/descriptions.ts';
import { jsonReply } from '../replies.ts';
import { findAssistant, toAssistantId } from './access.ts';
import { drawingQuery, subgraphQuery } from './schemas.ts';
import { checkServed } from './served-graph.ts';
import { drawing, graphSchemas, subgraphSchemas, toGraphSchemas, toSubgraphSchemas } from './shapes.ts';

const subgraphReply = json(z.record(z.string(), subgraphSchemas), 'Schemas by name of node');
const SUBGRAPH_KEYS = 'Keys are names of nodes; those of inner subgraphs are joined by `|`.';

export const assistantGraphEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/assistants/{assistant_id}/graph',
    tag: 'assistants',
    summary: 'Draw the graph of an assistant',
    query: drawingQuery,
    replies: { 200: json(drawing, 'Nodes and edges'), ...problems(404) },
    async handle({ context, actor, params, query }) {
      const order = await orderFor(context, actor, params.assistant_id);
      const { nodes, edges } = await context.describer.drawing(order, query.xray);
      return jsonReply({ nodes, edges });
    },
  }),
  endpoint({
    method: 'get',
    path: '/assistants/{assistant_id}/schemas',
    tag: 'assistants',
    summary: 'Get the schemas of input, output, state and context of an assistant',
    replies: { 200: json(graphSchemas, 'JSON Schemas, draft-07'), ...problems(404) },
    async handle({ context, actor, params }) {
      const order = await orderFor(context, actor, params.assistant_id);
      return jsonReply(toGraphSchemas(order.graphId, await context.describer.schemas(order)));
    },
  }),
  endpoint({
    method: 'get',
    path: '/assistants/{assistant_id}/subgraphs',
    tag: 'assistants',
    summary: 'Get the schemas of the subgraphs of an assistant',
    description: SUBGRAPH_KEYS,
    query: subgraphQuery,
    replies: { 200: subgraphReply, ...problems(404) },
    handle: ({ context, actor, params, query }) =>
      showSubgraphs(context, actor, params.assistant_id, { recurse: query.recurse }),
  }),
  endpoint({
    method: 'get',
    path: '/assistants/{assistant_id}/subgraphs/{namespace}',
    tag: 'assistants',
    summary: 'Get the schemas of the subgraphs of an assistant below a node',
    description: SUBGRAPH_KEYS,
    query: subgraphQuery,
    replies: { 200: subgraphReply, ...problems(404) },
    handle: ({ context, actor, params: { assistant_id: assistantId, namespace }, query }) =>
      showSubgraphs(context, actor, assistantId, { namespace, recurse: query.recurse }),
  }),
];

/** The graph with the assistant's config and context, which a graph factory is called with. */
async function orderFor(context: ServerContext, actor: Actor, given: string): Promise<GraphOrder> {
  const assistantId = toAssistantId(given);
  const { filter } = await authorise(context, actor, 'assistants:read', { assistant_id: assistantId });
  const assistant = await findAssistant(context, assistantId, filter);
  const { graphId, config } = assistant;
  checkServed(context, graphId);
  const { configurable } = config;
  return {
    ...{ graphId, configurable: isObject(configurable) ? configurable : {}, context: assistant.context },
    ...(actor.user && { user: actor.user }),
  };
}

async function showSubgraphs(
  context: ServerContext,
  actor: Actor,
  assistantId: string,
  wanted: { readonly namespace?: string; readonly recurse: boolean },
): Promise<Response> {
  const order = await orderFor(context, actor, assistantId);
  const found = await context.describer.subgraphs({ ...order, ...wanted });
  return jsonReply(
    Object.fromEntries(
      Object.entries(found).map(([name, schemas]) => [name, toSubgraphSchemas(order.graphId, schemas)]),
    ),
  );
}
