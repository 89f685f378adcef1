/**
 * What a client without an address finds inside graph code: the server that runs it. Requests go to the server's address
 * like any other and authenticate like any other; a header names the worker, so that a run that waits for another run
 * lends its permit.
 */
import { openGate } from '../kernel/gate.ts';
import { publishAddress, WORKER_HEADER } from '../kernel/server-address.ts';

/** Agreed with the official client. */
const FETCH = Symbol.for('langgraph_api:fetch');
const URL_BASE = Symbol.for('langgraph_api:url');

/** Requests whose reply has not begun: graph code may ask for ten thousand things at once. */
const MAX_REQUESTS = 64;

/** Returns what takes the server's address. Requests wait for the first one. */
export function publishServerFetch(token: string): (base: string) => void {
  const shared = globalThis as { [FETCH]?: typeof fetch; [URL_BASE]?: string };
  let onBase: (base: string) => void = () => undefined;
  let known: string | Promise<string> = new Promise<string>((resolve) => (onBase = resolve));
  const { fetch } = globalThis;

  const requests = openGate(MAX_REQUESTS);

  shared[FETCH] = (input, init) =>
    requests.enter(async () => {
      const base = await known;
      const request = new Request(typeof input === 'string' ? new URL(input, base) : input, init);
      request.headers.set(WORKER_HEADER, token);
      return fetch(request);
    });
  return (base) => {
    onBase(base);
    known = base;
    publishAddress(process.env, base);
    shared[URL_BASE] = base;
  };
}
