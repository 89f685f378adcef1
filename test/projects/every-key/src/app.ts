import { Hono } from 'hono';

export const app = new Hono().get('/mine', (c) => c.json({ mine: true }, 200, { 'x-mine': 'yes' }));
