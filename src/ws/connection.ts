/**
 * Serves one WebSocket: receives protocol commands, sends replies and protocol events.
 *
 * A1 The upgrade request was authenticated; every command is authorized by itself. S3 Commands are performed one after
 * the other, and reading pauses while many wait. Runs continue after the socket has closed.
 */
import { setMaxListeners } from 'node:events';
import type { RawData, WebSocket } from 'ws';
import { NoJson, parseBody } from '../http/body.ts';
import { toAssistantId } from '../http/assistants/access.ts';
import type { Caller, Perform } from '../http/protocol/caller.ts';
import { perform } from '../http/protocol/perform.ts';
import { startRun } from '../http/protocol/run-commands.ts';
import { findThread } from '../http/protocol/state-commands.ts';
import type { ServerContext, SocketGrant } from '../http/context.ts';
import { HttpProblem } from '../http/replies.ts';
import { resumeCursor } from '../http/protocol/stream-cursor.ts';
import { check } from '../http/check.ts';
import { reconnectParams, subscribeParams, unsubscribeParams } from '../http/protocol/schemas.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { createMailbox } from '../kernel/mailbox.ts';
import {
  CommandProblem,
  MALFORMED,
  NO_JSON,
  parseCommand,
  toError,
  type Command,
} from '../protocol/command.ts';
import { problemOfChannels } from '../protocol/filter.ts';
import { closeAs } from './close.ts';
import { openOutlet } from './outlet.ts';
import { keepAlive } from './keep-alive.ts';
import { openSubscriptions } from './subscriptions.ts';

/** Number of waiting commands at which reading pauses. */
const MAX_WAITING = 16;
/** Bytes of waiting commands at which reading pauses. */
const MAX_WAITING_BYTES = 1_048_576;

export interface Connection {
  /** Resolves when the socket has closed and its subscriptions have ended. */
  readonly done: Promise<void>;
}

export function serveSocket(
  socket: WebSocket,
  { threadId, actor, filter, byGraph }: SocketGrant,
  context: ServerContext,
  inTurn: () => Promise<void>,
): Connection {
  const caller: Caller = { context, actor, threadId };
  const over = new AbortController();
  // Every wait for the thread adds a listener to this signal.
  setMaxListeners(0, over.signal);
  const outlet = openOutlet(socket, inTurn);
  const commands = createMailbox();
  const subscriptions = openSubscriptions({
    threadId,
    events: context.threadEvents,
    outlet,
    visible: async () => (await context.log.views.threads.get(threadId, filter)) !== undefined,
    signal: over.signal,
  });
  const stopKeepAlive = keepAlive(socket, outlet, context.clock);
  const { expiresAt } = actor;
  const forgetExpiry =
    expiresAt === undefined
      ? () => undefined
      : context.clock.after(Math.max(0, expiresAt - context.clock.now()), () => {
          // Stops sending and receiving at once: the client may take long to answer the close frame.
          over.abort();
          closeAs(socket, 401, 'The credentials have expired.');
        });
  let boundAssistant: string | undefined;
  let waiting = 0;
  let waitingBytes = 0;
  const isFull = (): boolean => waiting >= MAX_WAITING || waitingBytes >= MAX_WAITING_BYTES;

  const start: Perform = async (who, params) => {
    const given = params['assistant_id'];
    const key = typeof given === 'string' ? toAssistantId(given) : undefined;
    if (boundAssistant !== undefined && key !== undefined && key !== boundAssistant)
      throw new CommandProblem(
        'invalid_argument',
        `Thread ${threadId} is bound to assistant ${boundAssistant}; cannot run ${String(given)}.`,
      );
    const result = await startRun(who, params);
    boundAssistant ??= key;
    return result;
  };
  const unsubscribe: Perform = async (_, params) => {
    const { subscription_id: id } = check(unsubscribeParams, params);
    if (typeof id !== 'string' || !subscriptions.remove(id))
      throw new CommandProblem('no_such_subscription', `Unknown subscription: ${String(id)}`);
    return {};
  };

  /** Subscriptions are not kept after their socket: on a new one `restored` is false and the client subscribes again. */
  const reconnect: Perform = async (who, params) => {
    const { run_id: runId, subscriptions: ids = [] } = check(reconnectParams, params);
    await findThread(who);
    if ((await context.log.views.runs.get(runId, { threadId })) === undefined)
      throw new CommandProblem('no_such_run', `The thread has no run ${runId}.`);
    const restored = ids.length > 0 && ids.every((id) => subscriptions.has(id));
    return { restored, ...(restored && { missed_events: 0 }) };
  };

  /** Adds a subscription, which sends the reply itself once it is served; returns only an error reply. */
  function subscribe({ id, params }: Command): JsonObject | undefined {
    try {
      const problem = problemOfChannels(params['channels']);
      if (problem !== undefined) throw new CommandProblem('invalid_argument', problem);
      const wanted = { ...check(subscribeParams, params), byGraph };
      subscriptions.add(id, wanted, resumeCursor(wanted));
      return undefined;
    } catch (error) {
      if (error instanceof CommandProblem) return toError(id, error.code, error.message);
      if (error instanceof HttpProblem) return toError(id, 'invalid_argument', error.message);
      throw error;
    }
  }

  async function answer(data: RawData): Promise<JsonObject | undefined> {
    const command = parseCommand(parse(data));
    if (command === undefined) throw new CommandProblem('invalid_argument', MALFORMED);
    if (command.method === 'subscription.subscribe') return subscribe(command);
    return perform(caller, command, {
      'run.start': start,
      'subscription.unsubscribe': unsubscribe,
      'subscription.reconnect': reconnect,
    });
  }

  async function receive(data: RawData): Promise<void> {
    if (over.signal.aborted) return;
    try {
      const reply = await answer(data);
      if (reply !== undefined) await outlet.reply(reply);
    } catch (error) {
      const known = error instanceof CommandProblem;
      if (!known) context.onFault(error, 'answering a command');
      await outlet.reply(
        known
          ? toError(null, error.code, error.message)
          : toError(null, 'unknown_error', 'Internal server error'),
      );
    }
  }

  socket.on('message', (data) => {
    const bytes = sizeOf(data);
    waiting += 1;
    waitingBytes += bytes;
    if (isFull()) socket.pause();
    void commands
      .post(() => receive(data))
      .finally(() => {
        waiting -= 1;
        waitingBytes -= bytes;
        if (!isFull() && socket.isPaused) socket.resume();
      });
  });
  // `close` follows every error, but an `error` event without a listener ends the process.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => {
    stopKeepAlive();
    forgetExpiry();
    over.abort();
  });
  const served = subscriptions.done.catch((error: unknown) => {
    context.onFault(error, `serving a socket of thread ${threadId}`);
    socket.close(1011, 'Internal server error');
  });
  return { done: Promise.all([closed, served]).then(() => undefined) };
}

const sizeOf = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, part) => sum + part.byteLength, 0) : data.byteLength;

/** Parses a text or binary message as JSON. Throws a `CommandProblem` for an invalid one. */
function parse(data: RawData): Json | undefined {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
  try {
    return parseBody(new Uint8Array(bytes));
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    throw new CommandProblem('invalid_argument', error instanceof NoJson ? NO_JSON : error.message);
  }
}
