import { Hono } from 'hono';
import type { Env, ServerContext } from '../context.ts';

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
  return app;
}
