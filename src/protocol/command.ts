/** Commands that clients send about a thread, and the form of the answers. */
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

/** Thrown by whoever carries out a command; becomes its answer. */
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

/** Undefined for what is no command: it has no id to answer to. */
export function parseCommand(value: Json | undefined): Command | undefined {
  if (!isObject(value)) return undefined;
  const { id, method, params } = value;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || typeof method !== 'string')
    return undefined;
  return { id, method, params: isObject(params) ? params : {} };
}

/** `through`: the reader of all events up to this number has seen everything from before the command. */
export function toSuccess(id: number, result: JsonObject, threadId: string, through: number): JsonObject {
  return { type: 'success', id, result, meta: { thread_id: threadId, applied_through_seq: through } };
}

/** `id`: as it was sent, whatever it is. */
export const toError = (id: Json, code: CommandCode, message: string): JsonObject => ({
  type: 'error',
  id,
  error: code,
  message,
});
