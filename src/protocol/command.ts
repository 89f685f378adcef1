/** Protocol commands that clients send about a thread, and the wire form of their replies. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export type CommandCode =
  | 'invalid_argument'
  | 'unknown_command'
  | 'unknown_error'
  | 'no_such_run'
  | 'no_such_subscription'
  | 'no_such_namespace'
  | 'no_such_interrupt'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported';

export interface Command {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** Thrown by command handlers; becomes the command's error reply. */
export class CommandProblem extends Error {
  readonly code: CommandCode;
  constructor(code: CommandCode, message: string) {
    super(message);
    this.name = 'CommandProblem';
    this.code = code;
  }
}

export const MALFORMED = 'Protocol commands must include an integer id and string method.';
export const NO_JSON = 'Protocol commands must be valid JSON.';
export const NO_THREAD = 'Thread ids are UUIDs.';

/** Undefined for a value without a valid id and method: no reply can refer to it. */
export function parseCommand(value: Json | undefined): Command | undefined {
  if (!isObject(value)) return undefined;
  const { id, method, params } = value;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || typeof method !== 'string')
    return undefined;
  return { id, method, params: isObject(params) ? params : {} };
}

/** `through`: events up to this sequence number include everything committed before the command. */
export function toSuccess(id: number, result: JsonObject, threadId: string, through: number): JsonObject {
  return { type: 'success', id, result, meta: { thread_id: threadId, applied_through_seq: through } };
}

/** `id` is echoed as the client sent it, valid or not. */
export const toError = (id: Json, code: CommandCode, message: string): JsonObject => ({
  type: 'error',
  id,
  error: code,
  message,
});
