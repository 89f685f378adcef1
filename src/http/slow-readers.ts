/**
 * Bounds the memory of replies, WebSockets included, that clients do not read fast enough.
 *
 * S3 One client holds at most a page, but a page may be one large frame or state. When all buffers together exceed a
 * share of the heap, the connections without progress for longest are destroyed. Their streams can be resumed.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../kernel/clock.ts';

/** Interval of the check. */
const CHECK_INTERVAL_MS = 500;
/** A client makes progress when it has read more than this since its last progress. */
const MIN_PROGRESS_BYTES = 65_536;
/** Time without progress after which a connection may be destroyed. */
const SLOW_MS = 1_000;

/** Default limit of all buffers together, in bytes or characters; in memory they take up to six times as much. */
const defaultLimit = (): number => getHeapStatistics().heap_size_limit / 16;

/** The bytes that each connection was sent last; several connections may share the same array. */
const sent = new WeakMap<Socket, WeakRef<Uint8Array>>();

/** Records the bytes that a socket is sent, which sockets may share; undefined for text, which each socket copies. */
export function noteSent(socket: Socket, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) sent.delete(socket);
  else sent.set(socket, new WeakRef(bytes));
}

/** Buffered bytes by socket. Bytes that several sockets share are counted once and split evenly among them. */
function partsOf(sockets: Iterable<Socket>): (socket: Socket) => number {
  const shares = new Map<Uint8Array, { count: number; most: number }>();
  const sharedBy = (socket: Socket): Uint8Array | undefined =>
    socket.writableLength > 0 ? sent.get(socket)?.deref() : undefined;
  const waitingOf = (socket: Socket, bytes: Uint8Array): number =>
    Math.min(socket.writableLength, bytes.length);
  for (const socket of sockets) {
    const bytes = sharedBy(socket);
    if (bytes === undefined) continue;
    const { count, most } = shares.get(bytes) ?? { count: 0, most: 0 };
    shares.set(bytes, { count: count + 1, most: Math.max(most, waitingOf(socket, bytes)) });
  }
  return (socket) => {
    const bytes = sharedBy(socket);
    const shared = bytes && shares.get(bytes);
    if (bytes === undefined || shared === undefined) return socket.writableLength;
    return socket.writableLength - waitingOf(socket, bytes) + shared.most / shared.count;
  };
}

interface Progress {
  /** Monotonic time in ms of the client's last progress. */
  readonly at: number;
  readonly taken: number;
}

/** Checks at an interval; the returned function stops it. `most` is the limit in bytes. */
export function watchSlowReaders(server: Server, clock: Clock, most = defaultLimit()): () => void {
  const open = new Set<Socket>();
  const progress = new WeakMap<Socket, Progress>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function check(): void {
    cancel = clock.after(CHECK_INTERVAL_MS, check);
    const now = clock.monotonic();
    let waiting = 0;
    const partOf = partsOf(open);
    for (const socket of open) {
      waiting += partOf(socket);
      if (socket.writableLength === 0) progress.delete(socket);
      else {
        const taken = takenOf(socket);
        if (taken - (progress.get(socket)?.taken ?? -Infinity) > MIN_PROGRESS_BYTES)
          progress.set(socket, { at: now, taken });
      }
    }
    if (waiting <= most) return;
    const since = (socket: Socket): number => progress.get(socket)?.at ?? now;
    const slow = [...open]
      .filter((socket) => now - since(socket) >= SLOW_MS)
      .sort((a, b) => since(a) - since(b) || partOf(b) - partOf(a));
    for (const socket of slow) {
      if (waiting <= most / 2) return;
      waiting -= partOf(socket);
      socket.destroy();
    }
  }
  let cancel = clock.after(CHECK_INTERVAL_MS, check);
  return () => cancel();
}

/** Bytes that have left for the client. Only the socket's handle knows the unsent rest of a large write. */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } };
  return socket.bytesWritten - (handle?.writeQueueSize ?? 0);
}
