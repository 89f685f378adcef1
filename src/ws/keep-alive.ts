import type { WebSocket } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import type { Outlet } from './outlet.ts';

const PING_INTERVAL_MS = 30_000;

/** Pings the client and terminates a socket without any sign of life. The returned function stops the pings. */
export function keepAlive(socket: WebSocket, outlet: Outlet, clock: Clock): () => void {
  let alive = true;
  const markAlive = (): void => {
    alive = true;
  };
  socket.on('pong', markAlive);
  socket.on('message', markAlive);
  let cancel = clock.after(PING_INTERVAL_MS, ping);
  function ping(): void {
    if (!alive && !outlet.progressed()) return socket.terminate();
    alive = false;
    outlet.progressed();
    socket.ping();
    cancel = clock.after(PING_INTERVAL_MS, ping);
  }
  return () => cancel();
}
