/**
 * Lets an SDK client without an address, in graph code, reach this server. Requests authenticate as usual. A header names
 * the worker, so that a run that waits for another run releases its permit.
 */
import { openGate } from '../kernel/gate.ts';
import { publishAddress, SERVER_FETCH, SERVER_URL, WORKER_HEADER } from '../kernel/server-address.ts';

/** Maximum concurrent requests without response headers; further requests wait. */
const MAX_REQUESTS = 64;

/** Returns a function that sets the server's address. Requests wait until it is first called. */
export function publishServerFetch(token: string): (base: string) => void {
  const shared = globalThis as { [SERVER_FETCH]?: typeof fetch; [SERVER_URL]?: string };
  let onBase: (base: string) => void = () => undefined;
  let address: string | Promise<string> = new Promise<string>((resolve) => (onBase = resolve));
  const { fetch } = globalThis;
  const requests = openGate(MAX_REQUESTS);
  shared[SERVER_FETCH] = (input, init) =>
    requests.enter(async () => {
      const base = await address;
      const request = new Request(typeof input === 'string' ? new URL(input, base) : input, init);
      request.headers.set(WORKER_HEADER, token);
      return fetch(request);
    });
  return (base) => {
    onBase(base);
    address = base;
    publishAddress(process.env, base);
    shared[SERVER_URL] = base;
  };
}
