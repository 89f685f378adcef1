import { z } from 'zod';
import { metricsQuery, okQuery } from '../system/schemas.ts';
import { json, text, problem } from './descriptions.ts';
import { type Operation } from '../endpoint.ts';

const ok = z.object({ ok: z.literal(true), services: z.object({}).optional() });

const info = z.object({
  version: z.string(),
  context: z.literal('js'),
  flags: z.record(z.string(), z.boolean()),
  host: z.object({
    kind: z.string(),
    project_id: z.string().nullable(),
    host_revision_id: z.string().nullable(),
    revision_id: z.string().nullable(),
    tenant_id: z.string().nullable(),
  }),
  metadata: z.record(z.string(), z.unknown()),
});

const openapi = z.looseObject({ openapi: z.string() });

const well = {
  200: json(ok, 'It is'),
  500: json(problem, 'With `check_db`: the log does not answer'),
};

export const systemOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/ok',
    tag: 'system',
    summary: 'Is the server up',
    query: okQuery,
    replies: well,
  },
  { method: 'get', path: '/', tag: 'system', summary: 'The same as /ok', query: okQuery, replies: well },
  {
    method: 'get',
    path: '/info',
    tag: 'system',
    summary: 'What this server is and can do',
    replies: { 200: json(info, 'Version and abilities') },
  },
  {
    method: 'get',
    path: '/metrics',
    tag: 'system',
    summary: 'How the server does',
    query: metricsQuery,
    replies: {
      200: {
        description: 'Numbers by name, as text for Prometheus unless `format` says otherwise',
        content: {
          ...text('text/plain', '').content,
          'application/json': z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])),
        },
      },
    },
  },
  {
    method: 'get',
    path: '/docs',
    tag: 'system',
    summary: 'This description as a page',
    replies: { 200: text('text/html', 'A page that needs nothing else') },
  },
  {
    method: 'get',
    path: '/openapi.json',
    tag: 'system',
    summary: 'This description',
    replies: { 200: json(openapi, 'OpenAPI 3.1') },
  },
];
