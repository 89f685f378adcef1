/** Tells graph code the address of the server that runs it. */
import { PRODUCT } from './product.ts';

/** Global symbols under which SDK clients without an address find the server's `fetch` and base URL. */
export const SERVER_FETCH = Symbol.for('langgraph_api:fetch');
export const SERVER_URL = Symbol.for('langgraph_api:url');

/** Header that identifies the graph worker in requests of its graph code. */
export const WORKER_HEADER = `x-${PRODUCT}-worker`;

/** Sets `PORT`, and `LANGGRAPH_API_URL` unless the deployer has set it. `url`: base URL of the interface. */
export function publishAddress(env: NodeJS.ProcessEnv, url: string): void {
  const address = new URL(url);
  env['PORT'] = address.port === '' ? '80' : address.port;
  // A wildcard address cannot be called, so loopback replaces it.
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1';
  if (address.hostname === '[::]') address.hostname = '[::1]';
  env['LANGGRAPH_API_URL'] ??= address.href.replace(/\/$/, '');
}
