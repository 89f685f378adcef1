import { z } from 'zod';
import { json, type Operation } from './operation.ts';

const ok = z.object({ ok: z.literal(true) });

const info = z.object({
  version: z.string(),
  context: z.literal('js'),
  flags: z.record(z.string(), z.boolean()),
  metadata: z.record(z.string(), z.unknown()),
});

const openapi = z.looseObject({ openapi: z.string() });

export const systemOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/ok',
    tag: 'system',
    summary: 'Is the server up',
    replies: { 200: json(ok, 'It is') },
  },
  {
    method: 'get',
    path: '/info',
    tag: 'system',
    summary: 'What this server is and can do',
    replies: { 200: json(info, 'Version and abilities') },
  },
  {
    method: 'get',
    path: '/openapi.json',
    tag: 'system',
    summary: 'This description',
    replies: { 200: json(openapi, 'OpenAPI 3.1') },
  },
];
