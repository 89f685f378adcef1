import { STATUS_CODES } from 'node:http';

/** The text of a whole HTTP reply, for a socket that Node's HTTP server no longer handles; it closes the connection. */
export function bareReply(
  status: number,
  headers: Iterable<readonly [string, string]>,
  body: string,
): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}content-length: ${length}\r\nconnection: close\r\n\r\n${body}`;
}
