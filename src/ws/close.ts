/** Ends of sockets, in codes that clients read as the status of a reply. */
import type { WebSocket } from 'ws';

/** Bytes that a close frame holds beside its code. */
const MAX_REASON_BYTES = 123;
const STATUS_TO_CODE = 4000;

/** `status`: of the HTTP reply that would have said the same. */
export function closeAs(socket: WebSocket, status: number, reason: string): void {
  const bytes = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  socket.close(STATUS_TO_CODE + status, reason.slice(0, bytes.read));
}
