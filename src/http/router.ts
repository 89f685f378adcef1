/** Adds endpoints to a Hono app. */
import type { Context, Handler, Hono } from 'hono';
import type { Env, ServerContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { readOnly } from './replies.ts';

export type Answer = (c: Context<Env>) => Promise<Response>;

/** `toHandler` makes the one handler of a route: a chain of middleware costs several promises for each request. */
export function addEndpoints(
  app: Hono<Env>,
  context: ServerContext,
  endpoints: readonly Endpoint[],
  toHandler: (path: string, answer: Answer) => Handler<Env>,
): void {
  // Hono runs the first route that matches: `/runs/crons` must precede `/runs/{run_id}`.
  for (const { method, path, changes = method !== 'get', answer } of [...endpoints].sort(byLiterals)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const handler = toHandler(pattern, async (c) => {
      if (changes && context.isReadOnly) throw readOnly();
      return answer(context, c);
    });
    app.on(method.toUpperCase(), pattern, handler);
  }
}

type WithPath = Pick<Endpoint, 'path'>;

/** Order in which a path with a literal segment precedes one with a parameter in its place. */
export const byLiterals = (a: WithPath, b: WithPath): number =>
  compareText(literalsFirst(a.path), literalsFirst(b.path));

/** A parameter sorts behind every literal segment. */
const literalsFirst = (path: string): string => path.replaceAll(/\{\w+\}/g, '\uffff');

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
