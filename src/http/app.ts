/** The router of the built-in routes, and the one place where a thrown error becomes a reply. */
import { setMaxListeners } from 'node:events';
import { Hono, type Context, type Handler, type NotFoundHandler } from 'hono';
import { LogFull, LogUnavailable } from '../store/port/log-failures.ts';
import { GraphFailed, GraphLoading, GraphsUnavailable } from '../graphs/port.ts';
import { authenticateRequest } from './access.ts';
import type { Env, ServerContext } from './context.ts';
import { ENDPOINTS } from './endpoints.ts';
import { isUpload } from './uploads.ts';
import { createKnownPaths } from './known-paths.ts';
import { pathOf, pluralPath, withoutPrefix } from './paths.ts';
import {
  HttpProblem,
  internal,
  graphFailed,
  noAnswer,
  noRoute,
  noSpace,
  notSearched,
  problemReply,
  redirect,
  stillLoading,
  unavailable,
  wrongMethod,
} from './replies.ts';
import { addEndpoints, type Answer } from './router.ts';
import { readOpened } from './studio/opened.ts';
import { studioPage } from './studio/page.ts';
import { truncateEndpoints } from './system/truncate.ts';
import { SearchRefused } from '../store/port/views/views.ts';

export function createApp(context: ServerContext): Hono<Env> {
  // Every open reply adds a listener to this signal.
  setMaxListeners(0, context.stopping);
  // `/thread/…` is an alias of `/threads/…`: rewriting before matching covers every route.
  const app = new Hono<Env>({
    getPath(request) {
      const pathname = pathOf(request.url);
      return pluralPath(withoutPrefix(pathname, context.http.mountPrefix) ?? pathname);
    },
  });

  const { requestCounts } = context;
  /** Counts the request under `path`, and makes a reply of what is thrown. */
  const answered =
    (path: string, answer: Answer): Handler<Env> =>
    async (c) => {
      const began = requestCounts.now();
      const { method } = c.req;
      const reply = await answer(c).catch((error: unknown) => toReply(context, error));
      requestCounts.count(method, path, reply.status, began);
      // HEAD runs the route of GET. Its body is cancelled, so that a reply that waits for a run stops waiting.
      if (method === 'HEAD') await reply.body?.cancel();
      return reply;
    };
  const authenticated = (path: string, answer: Answer): Handler<Env> =>
    answered(path, async (c) => {
      await authenticateRequest(context, c, isUpload);
      return answer(c);
    });

  if (!context.http.disabled.has('studio')) app.all('/studio/*', answered('/studio/*', studioPage(context)));
  addEndpoints(app, context, ENDPOINTS, authenticated);
  if (context.allowTruncate) addEndpoints(app, context, truncateEndpoints, authenticated);

  const known = createKnownPaths(ENDPOINTS);
  const noMatch = (c: Context<Env>): Response => {
    const { path } = c.req;
    const methods = known.methodsOf(path);
    if (methods !== undefined) return problemReply(wrongMethod(methods));
    if (
      path.length > 1 &&
      !path.endsWith('//') &&
      path.endsWith('/') &&
      known.methodsOf(path.slice(0, -1)) !== undefined
    )
      return redirect(path.slice(0, -1) + new URL(c.req.url).search);
    return problemReply(noRoute());
  };
  const opened = readOpened(context);
  app.all(
    '/opened/*',
    authenticated('/opened/*', async (c) => (await opened(c)) ?? noMatch(c)),
  );
  app.notFound(authenticated('other', async (c) => noMatch(c)) as NotFoundHandler<Env>);
  return app;
}

function toReply({ onFault }: ServerContext, error: unknown): Response {
  if (error instanceof HttpProblem) return problemReply(error);
  if (error instanceof SearchRefused) return problemReply(notSearched(error));
  if (error instanceof LogFull) return problemReply(noSpace());
  onFault(error, 'answering a request');
  if (error instanceof GraphLoading) return problemReply(stillLoading(error.message));
  if (error instanceof GraphsUnavailable) return problemReply(noAnswer());
  if (error instanceof GraphFailed) return problemReply(graphFailed(error.message));
  return problemReply(error instanceof LogUnavailable ? unavailable() : internal());
}
