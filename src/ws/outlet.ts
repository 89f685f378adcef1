/**
 * What goes out on one socket. S3 Whoever sends waits until the socket took the text, so at most a little more than
 * one text of this size is held.
 */
import type { WebSocket } from 'ws';
import type { Json } from '../kernel/json.ts';

export interface Outlet {
  /** Resolves at once while little waits, else when the socket took it. Never rejects: a socket that is gone takes all. */
  send(text: string): Promise<void>;
  reply(message: Json): Promise<void>;
  /** Anything taken since this was last asked: the other side reads, if slowly. */
  progressed(): boolean;
}

/** Characters that may wait before a sender has to. */
const MOST_WAITING = 65_536;

export function openOutlet(socket: WebSocket): Outlet {
  let waiting = 0;
  let taken = false;
  const send = (text: string): Promise<void> => {
    waiting += text.length;
    const done = new Promise<void>((resolve) =>
      socket.send(text, () => {
        waiting -= text.length;
        taken = true;
        resolve();
      }),
    );
    return waiting < MOST_WAITING ? Promise.resolve() : done;
  };
  return {
    send,
    reply: (message) => send(JSON.stringify(message)),
    progressed() {
      const was = taken;
      taken = false;
      return was;
    },
  };
}
