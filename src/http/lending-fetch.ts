/** Requests of graph code that wait for runs: whoever sends one needs no place among the runs until it is answered. */

/** Routes whose reply comes when a run has done something. */
const WAITS = /\/(?:wait|join|stream)$/;

/**
 * `ask`, with a place lent for as long as a request that waits is under way: until its reply has been read, broke off or
 * was given up. Where `lend` has none left the reply is 503.
 */
export const lendWhileWaiting =
  (ask: typeof fetch, lend: () => (() => void) | undefined): typeof fetch =>
  async (input, init) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    if (!WAITS.test(pathname) && !searchParams.has('wait')) return ask(input, init);
    const giveBack = lend();
    if (giveBack === undefined) return Response.json({ detail: REFUSED }, { status: 503 });
    const { signal } = init ?? {};
    signal?.addEventListener('abort', giveBack, { once: true });
    try {
      const reply = await ask(input, init);
      if (reply.body === null) giveBack();
      return reply.body === null ? reply : new Response(endingWith(reply.body, giveBack), reply);
    } catch (error) {
      giveBack();
      throw error;
    }
  };

const REFUSED =
  'Too many runs wait for other runs: each of those needs a place that is taken by one that waits';

function endingWith(body: ReadableStream<Uint8Array>, over: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          over();
          controller.close();
        } catch (error) {
          over();
          controller.error(error);
        }
      },
      cancel(reason) {
        over();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
