import type { IncomingMessage } from 'node:http';

/** True for a request to upgrade to WebSocket; offers of other protocols are ignored (RFC 9110, 7.8). */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
