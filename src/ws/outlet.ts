/**
 * Sends text, or bytes in UTF-8, on one WebSocket. S3 A sender waits until the socket has taken its text, so the buffer
 * holds at most `MAX_WAITING_CHARS` and one more text.
 */
import type { WebSocket } from 'ws';
import type { Json } from '../kernel/json.ts';

export interface Outlet {
  /** Resolves at once below `MAX_WAITING_CHARS`, else when the socket has taken the text. Never rejects. */
  send(text: string | Uint8Array): Promise<void>;
  reply(message: Json): Promise<void>;
  /** True if the socket has taken anything since the last call: the client reads, if slowly. */
  progressed(): boolean;
}

/** Buffered text at which a sender waits. */
const MAX_WAITING_CHARS = 65_536;

/**
 * `inTurn` is shared by the server and awaited before a long text: each write copies the text, and some hundred sockets
 * may wait for the same one.
 */
export function openOutlet(socket: WebSocket, inTurn: () => Promise<void>): Outlet {
  let waiting = 0;
  let taken = false;
  const send = async (text: string | Uint8Array): Promise<void> => {
    waiting += text.length;
    if (text.length > MAX_WAITING_CHARS) await inTurn();
    const done = new Promise<void>((resolve) =>
      socket.send(text, { binary: false }, () => {
        waiting -= text.length;
        taken = true;
        resolve();
      }),
    );
    if (waiting >= MAX_WAITING_CHARS) await done;
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
