/**
 * Tracks idle connections for a server that stops. Node treats a connection without a first request as busy and leaves it
 * open until the grace period ends; it treats one whose reply is still being sent as idle and would cut it off.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** While the server closes, ends idle connections at once and every other one after its last reply is sent. */
export function endIdleConnections(server: Server): void {
  /** Number of open requests by socket, without upgraded sockets. */
  const open = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    open.set(socket, 0);
    socket.once('close', () => open.delete(socket));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => open.delete(socket));
  server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const count = (change: number): void => {
      const before = open.get(socket);
      if (before !== undefined) open.set(socket, before + change);
    };
    count(1);
    outgoing.once('close', () => {
      count(-1);
      if (!server.listening && open.get(socket) === 0) socket.destroySoon();
    });
  });

  // Node's `server.close` calls this method.
  server.closeIdleConnections = () => {
    for (const [socket, requests] of open) if (requests === 0) socket.destroy();
  };
}
