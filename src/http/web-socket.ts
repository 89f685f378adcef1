import type { IncomingMessage } from 'node:http';

/** All that this server speaks besides HTTP; other protocols that a request offers are passed over (RFC 9110, 7.8). */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
