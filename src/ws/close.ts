/** Closes WebSockets with a code that encodes an HTTP status. */
import type { WebSocket } from 'ws';

/** Maximum length of the reason in a close frame. */
const MAX_REASON_BYTES = 123;
const CODE_OFFSET = 4000;

/** Closes with the code 4000 + `status` and the reason cut to what a close frame holds. */
export function closeAs(socket: WebSocket, status: number, reason: string): void {
  const bytes = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  socket.close(CODE_OFFSET + status, reason.slice(0, bytes.read));
}
