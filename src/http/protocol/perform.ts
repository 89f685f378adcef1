/**
 * Performs a protocol command about a thread, for HTTP and for WebSockets.
 *
 * A1 The connection has authenticated the caller; every command is authorized by itself. A3 A hidden thread and a
 * missing one look the same.
 */
import { LogFull } from '../../store/port/log-failures.ts';
import type { JsonObject } from '../../kernel/json.ts';
import {
  CommandProblem,
  toError,
  toSuccess,
  type Command,
  type CommandCode,
} from '../../protocol/command.ts';
import { beforeRun } from '../../protocol/stream-cursor.ts';
import { HttpProblem, noSpace } from '../replies.ts';
import type { Caller, Perform } from './caller.ts';
import { forkState, inject, respond, startRun } from './run-commands.ts';
import { getState, getTree, listCheckpoints } from './state-commands.ts';

export const COMMANDS: Readonly<Record<string, Perform>> = {
  'run.start': startRun,
  'input.respond': respond,
  'input.inject': inject,
  'state.get': getState,
  'state.listCheckpoints': listCheckpoints,
  'state.fork': forkState,
  'agent.getTree': getTree,
  'subscription.subscribe': notSupported('subscription.subscribe needs a WebSocket; open a stream instead.'),
  'subscription.unsubscribe': notSupported('subscription.unsubscribe needs a WebSocket; close the stream.'),
  'subscription.reconnect': notSupported(
    'subscription.reconnect needs a WebSocket; open a stream with since_event_id.',
  ),
};

function notSupported(message: string): Perform {
  return async () => {
    throw new CommandProblem('not_supported', message);
  };
}

/** Resolves to the reply, also for an error; never rejects. `more` holds commands of one kind of connection. */
export async function perform(
  caller: Caller,
  { id, method, params }: Command,
  more: Readonly<Record<string, Perform>> = {},
): Promise<JsonObject> {
  const { context, threadId } = caller;
  const command = [more, COMMANDS].find((known) => Object.hasOwn(known, method))?.[method];
  if (command === undefined) return toError(id, 'unknown_command', `Unknown protocol command: ${method}`);
  try {
    // The sequence number is read before the command, whose events must have higher ones.
    const through = await appliedThrough(caller);
    return toSuccess(id, await command(caller, params), threadId, through);
  } catch (error) {
    if (error instanceof CommandProblem) return toError(id, error.code, error.message);
    if (error instanceof HttpProblem) return toError(id, codeOf(error), error.message);
    if (error instanceof LogFull) return toError(id, 'unknown_error', noSpace().message);
    context.onFault(error, `carrying out ${method}`);
    return toError(id, 'unknown_error', 'Internal server error');
  }
}

/** Sequence number such that all events up to it were committed before the command. */
async function appliedThrough({ context, threadId }: Caller): Promise<number> {
  const run = await context.log.views.runs.latest(threadId);
  if (run === undefined || run.ordinal === null) return 0;
  return beforeRun(run.endedAt === null ? run.ordinal : run.ordinal + 1);
}

function codeOf({ status, message }: HttpProblem): CommandCode {
  if (/^checkpoint_id: the thread has no /.test(message)) return 'no_such_checkpoint';
  if (status === 404) return 'no_such_run';
  if (status === 401 || status === 403) return 'permission_denied';
  return status < 500 ? 'invalid_argument' : 'unknown_error';
}
