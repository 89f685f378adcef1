/**
 * Serializes pipelined requests of a connection. Without it Node emits all requests of a read at once (up to 2000), for
 * up to 30 reads per event-loop iteration. Other connections then wait for seconds.
 *
 * S3 Each connection has one request in progress, since its replies go out in order anyway. Between two requests the
 * event loop serves other connections. A connection with more than `MAX_WAITING` waiting requests is destroyed.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { breathe } from '../kernel/breathe.ts';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Maximum number of waiting requests per connection. */
const MAX_WAITING = 100;

/** Waiting requests by connection; a connection has an entry while a request of it is in progress. */
const waiting = new WeakMap<Duplex, (() => void)[]>();

/** Wraps the `request` listeners that the server has so far; listeners added later get requests at once. */
export function answerInTurn(server: Server): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    inTurn(socket, () => {
      waiting.set(socket, waiting.get(socket) ?? []);
      outgoing.once('close', () => scheduleNext(socket));
      for (const listener of listeners) listener.call(server, incoming, outgoing);
    });
  });
}

/** Calls `begin` after earlier requests of the connection are answered; never if the connection ends before. */
export function inTurn(socket: Duplex, begin: () => void): void {
  // Requests that were read together with the one that exceeded the limit are dropped.
  if (socket.destroyed) return;
  const queue = waiting.get(socket);
  if (queue === undefined) begin();
  else if (queue.push(begin) > MAX_WAITING) {
    queue.length = 0;
    socket.destroy();
  }
}

function scheduleNext(socket: Duplex): void {
  if (waiting.get(socket)?.length === 0) waiting.delete(socket);
  else void breathe().then(() => beginNext(socket));
}

function beginNext(socket: Duplex): void {
  const queue = waiting.get(socket);
  const begin = queue?.shift();
  // `begin` may be an upgrade, which has no reply that closes: the entry is deleted before.
  if (queue?.length === 0) waiting.delete(socket);
  if (!socket.destroyed) begin?.();
}
