import { Hono } from 'hono';

export const app = new Hono();

app.use(async (c, next) => {
  const began = performance.now();
  await next();
  c.header('x-took', String(performance.now() - began >= 0));
});

/** The platform's routes read the body that the context has cached. */
app.use('/threads/:id/runs/wait', async (c, next) => {
  const body = await c.req.json();
  if (typeof body.input?.said === 'string') body.input.said = body.input.said.toUpperCase();
  await next();
});

app.get('/hello/:name', (c) => c.json({ hello: c.req.param('name') }));
app.post('/sum', async (c) => c.json({ sum: (await c.req.json<number[]>()).reduce((a, b) => a + b, 0) }));
app.get('/broken', () => {
  throw new Error('a route that throws');
});
