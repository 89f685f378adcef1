/** Requests of graph code that wait for runs: whoever sends one needs no place among the runs until it is answered. */

/** Routes whose reply comes when a run has done something. One that is cancelled has its place already. */
const WAITS = /\/(?:wait|join|stream)$/;
const REFUSED =
  'Too many runs wait for other runs: each of those needs a place that is taken by one that waits';

interface Lender {
  lend(): () => void;
  isLentOut(): boolean;
}

/**
 * `ask`, with a place lent while somebody waits: for the reply of a request that waits, and for each piece of its body
 * that is asked for. Who leaves a body unread waits for nothing. The reply is 503 where all is lent out.
 */
export const lendWhileWaiting =
  (ask: typeof fetch, lender: Lender): typeof fetch =>
  async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!WAITS.test(pathname)) return ask(input, init);
    if (lender.isLentOut()) return Response.json({ detail: REFUSED }, { status: 503 });
    const reply = await ask(input, init).finally(lender.lend());
    return reply.body === null ? reply : new Response(lendingBody(reply.body, lender), reply);
  };

function lendingBody(body: ReadableStream<Uint8Array>, { lend }: Lender): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().finally(lend());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
