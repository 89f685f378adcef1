/** Adds endpoints to a Hono app. */
import type { Hono } from 'hono';
import type { Env, ServerContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { readOnly } from './replies.ts';

export function addEndpoints(app: Hono<Env>, context: ServerContext, endpoints: readonly Endpoint[]): void {
  // Hono runs the first route that matches: `/runs/crons` must precede `/runs/{run_id}`.
  for (const { method, path, changes = method !== 'get', answer } of [...endpoints].sort(byLiterals))
    app.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => {
      if (changes && context.isReadOnly) throw readOnly();
      return answer(context, c);
    });
}

type WithPath = Pick<Endpoint, 'path'>;

/** Order in which a path with a literal segment precedes one with a parameter in its place. */
export const byLiterals = (a: WithPath, b: WithPath): number =>
  compareText(literalsFirst(a.path), literalsFirst(b.path));

/** A parameter sorts behind every literal segment. */
const literalsFirst = (path: string): string => path.replaceAll(/\{\w+\}/g, '\uffff');

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
