/**
 * Exported files that a page opens for reading. Each is imported into a temporary log, which the read routes of the API
 * show below `/opened/{opened_id}` to the caller who opened it, until it expires.
 *
 * A3 Another user's file and a missing one look the same.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import { toTimestamp } from '../../kernel/clock.ts';
import type { Actor } from '../../auth/authenticate.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json } from '../openapi/descriptions.ts';
import { invalid, jsonReply, noRoute } from '../replies.ts';
import { id, time } from '../reply-fields.ts';
import { orFull, receive } from '../threads/spool.ts';

const identityOf = (actor: Actor): string | undefined => actor.user?.identity;

export const openedEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/opened',
    changes: false,
    tag: 'system',
    summary: 'Open an exported thread for reading',
    description:
      'The body is a file that an export made. It is imported into a temporary log; for an hour its caller can read it ' +
      'with the routes of this API below `/opened/{opened_id}`, such as `/opened/{opened_id}/threads/{thread_id}/events`. ' +
      'A damaged file is a 422 with the reason.',
    upload: 'application/octet-stream',
    replies: { 200: json(z.object({ opened_id: id, thread_id: id, expires_at: time }), 'The opened file') },
    async handle({ context, actor, c }) {
      const { carriage, opened } = context;
      // The caller may bring threads: nothing of this one is kept.
      await authorise(context, actor, 'threads:create', { metadata: {} });
      const { ExportRefused } = await import('../../archive/refusal.ts');
      const user = identityOf(actor);
      const carried = carriage.newFile(user);
      try {
        await receive(c.req.raw, carried.path);
        const { openedId, expiresAt, log } = await carriage.importInTurn(user, () =>
          opened.open(carried.path, user),
        );
        return jsonReply({
          opened_id: openedId,
          thread_id: log.threadId,
          expires_at: toTimestamp(expiresAt),
        });
      } catch (error) {
        throw error instanceof ExportRefused ? invalid(error.message) : orFull(error);
      } finally {
        await carried.remove();
      }
    },
  }),
];

const PATH = /^\/opened\/([^/]+)(\/.*)$/;

/** Answers requests below `/opened/{opened_id}` from the log of that file; undefined for any other path. */
export function readOpened({ opened }: ServerContext): (c: Context<Env>) => Promise<Response | undefined> {
  return async (c) => {
    const [, openedId, path] = PATH.exec(c.req.path) ?? [];
    if (openedId === undefined || path === undefined) return undefined;
    const found = opened.find(openedId, identityOf(c.var.actor));
    if (found === undefined) throw noRoute();
    const { method, headers, signal, url } = c.req.raw;
    const inner = new URL(url);
    inner.pathname = path;
    // The body has been read within its bounds.
    const { body } = c.var;
    const bytes = body === undefined ? {} : { bytes: new TextEncoder().encode(JSON.stringify(body)) };
    return found.log.answer(new Request(inner, { method, headers, signal }), {
      ...c.env,
      admitted: { actor: { scopes: [] }, ...bytes },
    });
  };
}
