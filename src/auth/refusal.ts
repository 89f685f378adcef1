/**
 * Refusals of authentication and authorization. A2 Every fault denies. A4 Clients read either the text of a handler's
 * `HTTPException` or a fixed text, never another error of the project's code.
 */
import { STATUS_CODES } from 'node:http';

export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly detail: string;
  readonly headers?: Record<string, string>;
}

export const refuse = (status: number, detail: string): Refusal => ({ ok: false, status, detail });

/** A handler's fault whose message clients see: it has keys and types, never a value. */
export class ToldFault extends TypeError {
  readonly status: 400 | 500;
  constructor(message: string, status: 400 | 500 = 500) {
    super(message);
    this.name = 'ToldFault';
    this.status = status;
  }
}

/** The refusal for a handler's fault; the caller passes the cause to `onFault`. */
export const refuseFaulty = (fault: unknown): Refusal =>
  fault instanceof ToldFault ? refuse(fault.status, fault.message) : refuse(500, 'Internal server error');

/** Headers that the server sets itself, because it writes the reply's body. */
const SERVER_OWNED = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'transfer-encoding',
];

/**
 * Converts a thrown `HTTPException`, recognised by shape (status 400 to 599 and headers), because the project may use
 * another copy of the class. Undefined for any other thrown value.
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
    // Invalid headers, or getters that throw: not an `HTTPException`.
    return undefined;
  }
}
