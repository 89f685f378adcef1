import { z } from 'zod';
import {
  assistantCount,
  assistantCreate,
  assistantDeletion,
  assistantPatch,
  assistantSearch,
  versionChoice,
  versionSearch,
} from '../assistants/schemas.ts';
import { json, nothing, PAGE_HEADERS, problems } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';
import { assistant, assistantVersion, drawing, graphSchemas, subgraphSchemas } from './shapes.ts';

export const assistantOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/assistants',
    tag: 'assistants',
    summary: 'Create an assistant',
    body: assistantCreate,
    replies: { 200: json(assistant, 'The assistant'), ...problems(404, 409) },
  },
  {
    method: 'post',
    path: '/assistants/search',
    tag: 'assistants',
    summary: 'Search assistants',
    body: assistantSearch,
    replies: { 200: json(z.array(assistant), 'A page of assistants', PAGE_HEADERS) },
  },
  {
    method: 'post',
    path: '/assistants/count',
    tag: 'assistants',
    summary: 'Count assistants',
    body: assistantCount,
    replies: { 200: json(z.int(), 'How many match') },
  },
  {
    method: 'get',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Get an assistant',
    replies: { 200: json(assistant, 'The assistant'), ...problems(404) },
  },
  {
    method: 'patch',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Change an assistant: a new version',
    description: '`metadata` is merged key by key, everything else that is given replaces.',
    body: assistantPatch,
    replies: { 200: json(assistant, 'The assistant'), ...problems(404) },
  },
  {
    method: 'delete',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Delete an assistant for good',
    query: assistantDeletion,
    replies: { 204: nothing('Deleted'), ...problems(404, 409) },
  },
  {
    method: 'post',
    path: '/assistants/{assistant_id}/versions',
    tag: 'assistants',
    summary: 'List the versions of an assistant',
    body: versionSearch,
    replies: { 200: json(z.array(assistantVersion), 'Newest first, at least one'), ...problems(404) },
  },
  {
    method: 'post',
    path: '/assistants/{assistant_id}/latest',
    tag: 'assistants',
    summary: 'Set an earlier version as the assistant',
    description: '`version` may also be a query parameter.',
    body: versionChoice,
    replies: { 200: json(assistant, 'The assistant, with all that the version holds'), ...problems(404) },
  },
  {
    method: 'get',
    path: '/assistants/{assistant_id}/graph',
    tag: 'assistants',
    summary: 'Draw the graph of an assistant',
    query: z.object({
      xray: z
        .union([z.boolean(), z.int().min(0)])
        .optional()
        .meta({ description: 'Subgraphs are drawn too, with a number so many levels of them.' }),
    }),
    replies: { 200: json(drawing, 'Nodes and edges'), ...problems(404) },
  },
  {
    method: 'get',
    path: '/assistants/{assistant_id}/schemas',
    tag: 'assistants',
    summary: 'Get what the graph of an assistant takes and gives',
    replies: { 200: json(graphSchemas, 'JSON Schemas, draft-07'), ...problems(404) },
  },
  ...['/assistants/{assistant_id}/subgraphs', '/assistants/{assistant_id}/subgraphs/{namespace}'].map(
    (path): Operation => ({
      method: 'get',
      path,
      tag: 'assistants',
      summary: 'Get what the subgraphs of an assistant take and give',
      description: 'Keys are names of nodes, those of inner subgraphs joined by `|`.',
      query: z.object({ recurse: z.boolean().optional() }),
      replies: { 200: json(z.record(z.string(), subgraphSchemas), 'By node'), ...problems(404) },
    }),
  ),
];
