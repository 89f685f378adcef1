/** How graph code reaches the server that runs it. */
import { PRODUCT } from './product.ts';

/** Names the graph worker in requests of its graph code to the server. */
export const WORKER_HEADER = `x-${PRODUCT}-worker`;

/**
 * Sets `PORT` to the port that the server listens on, and `LANGGRAPH_API_URL` unless the deployer has set it. `url` is
 * where the interface begins.
 */
export function publishAddress(env: NodeJS.ProcessEnv, url: string): void {
  const address = new URL(url);
  env['PORT'] = address.port === '' ? '80' : address.port;
  // A server that listens on all addresses cannot be called by the one that stands for them.
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1';
  if (address.hostname === '[::]') address.hostname = '[::1]';
  env['LANGGRAPH_API_URL'] ??= address.href.replace(/\/$/, '');
}
