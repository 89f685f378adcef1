/** Releases a run's concurrency permit while its graph code waits for another run over HTTP. */

/** Routes whose reply waits for a run. */
const WAITING_ROUTES = /\/(?:wait|join|stream)$/;
const REFUSED =
  'Too many runs wait for other runs: no concurrency permit is left. Let fewer runs wait at once, or raise PLATFORM_CONCURRENCY.';

interface Permits {
  release(): () => void;
  isExhausted(): boolean;
}

/**
 * Wraps `ask`: releases the permit while graph code waits for the reply of such a route and for each chunk of its body.
 * An unread body releases nothing. Replies 503 when the permits are exhausted.
 */
export const releaseWhileWaiting =
  (ask: typeof fetch, permits: Permits): typeof fetch =>
  async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!WAITING_ROUTES.test(pathname)) return ask(input, init);
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
