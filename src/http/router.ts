/** Adds endpoints to a Hono app. */
import type { Hono } from 'hono';
import type { Env, ServerContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { readOnly } from './replies.ts';

export function addEndpoints(app: Hono<Env>, context: ServerContext, endpoints: readonly Endpoint[]): void {
  // Hono runs the first route that matches: `/runs/crons` must precede `/runs/{run_id}`.
  const ordered = [...endpoints].sort((a, b) => compareText(literalsFirst(a.path), literalsFirst(b.path)));
  for (const { method, path, changes = method !== 'get', answer } of ordered)
    app.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => {
      if (changes && context.isReadOnly) throw readOnly();
      return answer(context, c);
    });
}

/** Text by which a path with a literal segment sorts before one with a parameter in its place. */
const literalsFirst = (path: string): string => path.replaceAll(/\{\w+\}/g, '\uffff');

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
