/**
 * Replies that wait to be taken, those of sockets too: text that the server holds for its clients.
 *
 * S3 What one client leaves waiting is a page, and a page may be one large frame or state. Together they stay within a
 * share of the memory: beyond it the connections whose clients have taken next to nothing for longest are ended. Streams
 * are taken up where they broke off.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../kernel/clock.ts';

/** How often is looked. */
const LOOK_MS = 500;
/** Who takes less between two looks, in bytes, is slow, */
const LITTLE = 65_536;
/** unless that began just now. */
const SLOW_MS = 1_000;

/** Bytes and characters that may wait for all clients together: in memory they take up to six times as much. */
const mostWaiting = (): number => getHeapStatistics().heap_size_limit / 16;

/** What connections were sent last, of what several may be sent. */
const sent = new WeakMap<Socket, WeakRef<Uint8Array>>();

/** Says that the socket is being sent these bytes, which are in memory once for all who are, or text of its own. */
export function noteSent(socket: Socket, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) sent.delete(socket);
  else sent.set(socket, new WeakRef(bytes));
}

/** What waits for each of the sockets, in bytes; for what several are sent, its part of what waits for the slowest. */
function partsOf(sockets: Iterable<Socket>): (socket: Socket) => number {
  const takers = new Map<Uint8Array, { count: number; most: number }>();
  const sharedBy = (socket: Socket): Uint8Array | undefined =>
    socket.writableLength > 0 ? sent.get(socket)?.deref() : undefined;
  const waitingOf = (socket: Socket, bytes: Uint8Array): number =>
    Math.min(socket.writableLength, bytes.length);
  for (const socket of sockets) {
    const bytes = sharedBy(socket);
    if (bytes === undefined) continue;
    const { count, most } = takers.get(bytes) ?? { count: 0, most: 0 };
    takers.set(bytes, { count: count + 1, most: Math.max(most, waitingOf(socket, bytes)) });
  }
  return (socket) => {
    const bytes = sharedBy(socket);
    const shared = bytes && takers.get(bytes);
    if (bytes === undefined || shared === undefined) return socket.writableLength;
    return socket.writableLength - waitingOf(socket, bytes) + shared.most / shared.count;
  };
}

interface Seen {
  /** When the client was last seen to take its reply. */
  readonly at: number;
  readonly taken: number;
}

/** The returned function ends the watch. */
export function watchSlowReaders(server: Server, clock: Clock, most = mostWaiting()): () => void {
  const open = new Set<Socket>();
  const seen = new WeakMap<Socket, Seen>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function look(): void {
    cancel = clock.after(LOOK_MS, look);
    const now = clock.monotonic();
    let waiting = 0;
    const partOf = partsOf(open);
    for (const socket of open) {
      waiting += partOf(socket);
      if (socket.writableLength === 0) seen.delete(socket);
      else {
        const taken = takenOf(socket);
        if (taken - (seen.get(socket)?.taken ?? -Infinity) > LITTLE) seen.set(socket, { at: now, taken });
      }
    }
    if (waiting <= most) return;
    const since = (socket: Socket): number => seen.get(socket)?.at ?? now;
    const slow = [...open]
      .filter((socket) => now - since(socket) >= SLOW_MS)
      .sort((a, b) => since(a) - since(b) || partOf(b) - partOf(a));
    for (const socket of slow) {
      if (waiting <= most / 2) return;
      waiting -= partOf(socket);
      socket.destroy();
    }
  }
  let cancel = clock.after(LOOK_MS, look);
  return () => cancel();
}

/** What has left for the client, in bytes. Of a large text under way only the handle of the socket knows. */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } };
  return socket.bytesWritten - (handle?.writeQueueSize ?? 0);
}
