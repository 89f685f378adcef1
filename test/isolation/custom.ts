/** What strangers ask of the project's own app, which the configuration puts behind authentication. */
import { app } from '../fixtures/project/http-isolation.ts';
import { isMiddleware } from '../../src/http/custom-app.ts';
import type { Ask, Things } from './requests.ts';

const NOTHING: readonly Ask[] = [['']];

export const CUSTOM: Record<string, (it: Things) => readonly Ask[]> = {
  'GET /custom/threads/{thread_id}': () => NOTHING,
  'GET /custom/threads/{thread_id}/bare': () => NOTHING,
  'POST /custom/runs/{thread_id}': (it) => [['', { assistant_id: it.assistant }]],
  'GET /custom/who': (it) => [[`?thread_id=${it.thread}`]],
  'GET /custom/fault': (it) => [[`?thread_id=${it.thread}`]],
};

export const customRoutes = (): string[] =>
  app.routes.filter((route) => !isMiddleware(route)).map(({ method, path }) => `${method} ${path}`);
