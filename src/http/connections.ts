/**
 * Which connections have nothing under way, for a server that stops. Node takes one that has asked for nothing yet for
 * busy, and one whose reply is on its way for idle: it would cut that off, and leave others open until the grace is over.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  /** Ends those with nothing under way, now and whenever the last reply of one has been taken. */
  close(): void;
}

export function watchConnections(server: Server): Connections {
  /** Requests under way. Those of other protocols are not the server's any more. */
  const open = new Map<Socket, number>();
  let closing = false;

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
      if (closing && open.get(socket) === 0) socket.destroySoon();
    });
  });

  // Node's own `close` calls it as well.
  server.closeIdleConnections = () => {
    for (const [socket, requests] of open) if (requests === 0) socket.destroy();
  };
  return {
    close() {
      closing = true;
      server.closeIdleConnections();
    },
  };
}
