/**
 * How auth says no. What the client reads is either what a handler chose to tell it (HTTPException) or a fixed text:
 * A2 whatever goes wrong denies, A4 and no text of an error that the project's code threw leaves through here.
 */
import { STATUS_CODES } from 'node:http';

export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly detail: string;
  readonly headers?: Record<string, string>;
}

export const refuse = (status: number, detail: string): Refusal => ({ ok: false, status, detail });

/** A fault of the handler that clients are told: the message names keys and types, never a value. */
export class ToldFault extends TypeError {
  readonly status: 400 | 500;
  constructor(message: string, status: 400 | 500 = 500) {
    super(message);
    this.name = 'ToldFault';
    this.status = status;
  }
}

/** The refusal for a fault of the handler; the cause goes to `onFault`. */
export const refuseFaulty = (fault: unknown): Refusal =>
  fault instanceof ToldFault ? refuse(fault.status, fault.message) : refuse(500, 'Internal server error');

/** These describe the reply's body, which is the server's. */
const SERVER_OWNED = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'transfer-encoding',
];

/**
 * Reads a thrown HTTPException by its shape (a status of 400..599 and headers), because the developer's copy of the
 * class is not ours. Undefined for any other throw.
 */
export function toRefusal(thrown: unknown): Refusal | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    const { status, headers, message } = thrown as Record<string, unknown>;
    if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599)
      return undefined;
    if (typeof headers !== 'object' || headers === null) return undefined;
    const replyHeaders = new Headers(headers as Record<string, string>);
    for (const name of SERVER_OWNED) replyHeaders.delete(name);
    const detail =
      typeof message === 'string' && message !== '' ? message : (STATUS_CODES[status] ?? 'Refused');
    return { ok: false, status, detail, headers: Object.fromEntries(replyHeaders) };
  } catch {
    // Headers that no reply can carry, or an object that throws when it is read: not an HTTPException.
    return undefined;
  }
}
