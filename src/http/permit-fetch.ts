/** Requests of graph code that wait for runs: the run that sends one releases its concurrency permit meanwhile. */

/** Routes whose reply comes when a run has done something. A run that is cancelled holds its permit already. */
const WAITS = /\/(?:wait|join|stream)$/;
const REFUSED =
  'Too many runs wait for other runs: each of those needs a place that is taken by one that waits';

interface Permits {
  release(): () => void;
  isExhausted(): boolean;
}

/**
 * `ask`, with a permit released while graph code waits: for the reply of a request that waits, and for each piece of its
 * body that is read. A body that lies unread releases nothing. The reply is 503 when the permits are exhausted.
 */
export const releaseWhileWaiting =
  (ask: typeof fetch, permits: Permits): typeof fetch =>
  async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!WAITS.test(pathname)) return ask(input, init);
    if (permits.isExhausted()) return Response.json({ detail: REFUSED }, { status: 503 });
    const reply = await ask(input, init).finally(permits.release());
    return reply.body === null ? reply : new Response(releasingBody(reply.body, permits), reply);
  };

function releasingBody(body: ReadableStream<Uint8Array>, permits: Permits): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().finally(permits.release());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
