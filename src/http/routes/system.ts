import { Hono } from 'hono';
import { PUBLIC_ROUTES } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { createDocument } from '../openapi/document.ts';
import { OPERATIONS } from '../openapi/operations.ts';

export function systemRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  app.get('/ok', (c) => c.json({ ok: true }));
  app.get('/info', (c) =>
    c.json({
      version: context.version,
      context: 'js',
      flags: { assistants: true, crons: false, langsmith: false },
      metadata: {},
    }),
  );
  const document = createDocument({
    version: context.version,
    operations: OPERATIONS,
    publicRoutes: PUBLIC_ROUTES,
    base: '/',
    apiKey: false,
    merge: [],
  });
  app.get('/openapi.json', (c) => c.json(document));
  return app;
}
