import type { WebSocket } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import type { Outlet } from './outlet.ts';

const EVERY_MS = 30_000;

/** Ends a socket whose other side neither answers nor reads. The returned function stops the beat. */
export function keepAlive(socket: WebSocket, outlet: Outlet, clock: Clock): () => void {
  let alive = true;
  const onSign = (): void => {
    alive = true;
  };
  socket.on('pong', onSign);
  socket.on('message', onSign);
  let cancel = clock.after(EVERY_MS, beat);
  function beat(): void {
    if (!alive && !outlet.progressed()) return socket.terminate();
    alive = false;
    outlet.progressed();
    socket.ping();
    cancel = clock.after(EVERY_MS, beat);
  }
  return () => cancel();
}
