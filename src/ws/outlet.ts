/**
 * What goes out on one socket: texts, or what is UTF-8 already. S3 Whoever sends waits until the socket took the text,
 * so at most a little more than one text of this size is held.
 */
import type { WebSocket } from 'ws';
import type { Json } from '../kernel/json.ts';

export interface Outlet {
  /** Resolves at once while little waits, else when the socket took it. Never rejects: a socket that is gone takes all. */
  send(text: string | Uint8Array): Promise<void>;
  reply(message: Json): Promise<void>;
  /** Anything taken since this was last asked: the other side reads, if slowly. */
  progressed(): boolean;
}

/** Characters that may wait before a sender has to. */
const MAX_WAITING = 65_536;

/**
 * `inTurn`: of the server, awaited before a long text. What a socket takes of one at once costs the time to copy it, and
 * some hundred sockets may wait for the same.
 */
export function openOutlet(socket: WebSocket, inTurn: () => Promise<void>): Outlet {
  let waiting = 0;
  let taken = false;
  const send = async (text: string | Uint8Array): Promise<void> => {
    waiting += text.length;
    if (text.length > MAX_WAITING) await inTurn();
    const done = new Promise<void>((resolve) =>
      socket.send(text, { binary: false }, () => {
        waiting -= text.length;
        taken = true;
        resolve();
      }),
    );
    if (waiting >= MAX_WAITING) await done;
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
