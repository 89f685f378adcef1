import type { Context } from 'hono';
import type { Actor } from '../auth/authenticate.ts';
import type { Env, ServerContext } from './context.ts';
import type { StreamingReply } from './streaming-body.ts';

interface Asked {
  readonly context: ServerContext;
  readonly actor: Actor;
  readonly c: Context<Env>;
}

/** A reply to the request that ends with the connection, the server's stop or the expiry of the caller's credentials. */
export const streamingReply = (
  { context, actor, c }: Asked,
  more: Partial<Pick<StreamingReply, 'headers' | 'onLeave'>> = {},
): StreamingReply => ({
  clock: context.clock,
  over: new AbortController(),
  stopping: context.stopping,
  expiresAt: actor.expiresAt,
  outgoing: c.env.outgoing,
  headers: {},
  ...more,
});
