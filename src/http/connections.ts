/**
 * Which connections have nothing under way, for a server that stops. Node takes one that has asked for nothing yet for
 * busy, and one whose reply is on its way for idle: it would cut that off, and leave others open until the grace is over.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** When the server closes, it ends those with nothing under way, at once and whenever the last reply of one was taken. */
export function endIdleConnections(server: Server): void {
  /** Requests under way. Those of other protocols are not the server's any more. */
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

  // Called by Node's own `close`.
  server.closeIdleConnections = () => {
    for (const [socket, requests] of open) if (requests === 0) socket.destroy();
  };
}
