/**
 * Requests that a client sends on one connection without waiting for replies. Node hands over all that one read holds at
 * once, two thousand of them, and reads on thirty times in the same turn of the event loop: others waited for seconds.
 *
 * S3 One request of a connection is carried out at a time, as its replies go out in order anyway, and the rest of the
 * server has its turn in between. Who sends very many ahead loses the connection.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { breathe } from '../kernel/breathe.ts';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Requests of a connection that wait for their turn. */
const MAX_WAITING = 100;

/** Of connections on which a request is carried out: what comes after it. */
const waiting = new WeakMap<Duplex, (() => void)[]>();

/** The listeners that the server has by now hear of requests in turn. */
export function answerInTurn(server: Server): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    inTurn(socket, () => {
      waiting.set(socket, waiting.get(socket) ?? []);
      outgoing.once('close', () => setTurn(socket));
      for (const listener of listeners) listener.call(server, incoming, outgoing);
    });
  });
}

/** When the requests before it on its connection are answered; never when the connection ends before. */
export function inTurn(socket: Duplex, begin: () => void): void {
  // What was read along with the request that was one too many.
  if (socket.destroyed) return;
  const others = waiting.get(socket);
  if (others === undefined) begin();
  else if (others.push(begin) > MAX_WAITING) {
    others.length = 0;
    socket.destroy();
  }
}

function setTurn(socket: Duplex): void {
  if (waiting.get(socket)?.length === 0) waiting.delete(socket);
  else void breathe().then(() => takeTurn(socket));
}

function takeTurn(socket: Duplex): void {
  const others = waiting.get(socket);
  const begin = others?.shift();
  // An upgrade is the last thing of its connection, or begins it anew.
  if (others?.length === 0) waiting.delete(socket);
  if (!socket.destroyed) begin?.();
}
