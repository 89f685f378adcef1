/**
 * One end of the pipe between the server and a graph worker. Messages of all streams arrive in the order of `send`.
 * Messages sent before the next microtask share one write.
 */
import type { Duplex } from 'node:stream';
import { createDecoder, encode, type Message } from './frame.ts';
import { TYPE, type WireError } from './messages.ts';
import { fromWireError, toWireError } from './wire-error.ts';

export interface Connection {
  /** Throws `ValueTooLarge` for an oversized message. Does nothing once the connection is closed. */
  send(type: number, stream: number, head: object, blobs?: readonly string[]): void;
  /** Resolves with the reply. Rejects with the other end's error, or with the error passed to `close`. */
  call(stream: number, head: object, blobs?: readonly string[]): Promise<Message>;
  /** Answers a call with what `work` resolves or rejects with. */
  reply(call: Message, work: () => Promise<{ head: object; blobs?: readonly string[] }>): void;
  /** Rejects pending calls with `error` and ends the pipe. */
  close(error: Error): void;
  /** True when the other end has closed the pipe, or has written nothing since the last call and a message is incomplete. */
  isBroken(): boolean;
}

interface Waiting {
  resolve(reply: Message): void;
  reject(error: Error): void;
}

/** Calls `onEnd` once: without an error when the pipe closes, with one when the other end violates the protocol. */
export function openConnection(
  socket: Duplex,
  onMessage: (message: Message) => void,
  onEnd: (error: Error | undefined) => void,
): Connection {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let closed: Error | undefined;
  let isCorked = false;

  function uncork(): void {
    isCorked = false;
    socket.uncork();
  }

  function send(type: number, stream: number, head: object, blobs: readonly string[] = []): void {
    if (closed !== undefined) return;
    const bytes = encode({ type, stream, head, blobs });
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      queueMicrotask(uncork);
    }
    socket.write(bytes);
  }

  function settle(reply: Message): void {
    const call = waiting.get(reply.head.c);
    waiting.delete(reply.head.c);
    const error = reply.head.error as WireError | undefined;
    if (error === undefined) call?.resolve(reply);
    else call?.reject(fromWireError(error));
  }

  const decode = createDecoder((message) => {
    if (closed !== undefined) return;
    if (message.type === TYPE.reply) settle(message);
    else onMessage(message);
  });

  function close(error: Error): void {
    if (closed !== undefined) return;
    closed = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    if (isCorked) uncork();
    socket.end();
  }

  let isIncomplete = false;
  let isQuiet = true;
  let isOver = false;
  const end = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    onEnd(error);
  };
  socket.on('data', (bytes: Buffer) => {
    isQuiet = false;
    try {
      isIncomplete = decode(bytes);
    } catch (error) {
      end(error as Error);
    }
  });
  // A socket error is dropped: the process's exit has the cause.
  socket.on('error', () => end());
  socket.on('close', () => end());

  return {
    send,
    call: (stream, head, blobs) =>
      new Promise((resolve, reject) => {
        if (closed !== undefined) return reject(closed);
        last += 1;
        send(TYPE.call, stream, { ...head, c: last }, blobs);
        waiting.set(last, { resolve, reject });
      }),
    reply(call, work) {
      const { c } = call.head;
      work()
        .then(({ head, blobs }) => send(TYPE.reply, call.stream, { ...head, c }, blobs))
        .catch((error: unknown) => send(TYPE.reply, call.stream, { c, error: toWireError(error) }));
    },
    close,
    isBroken() {
      const isBroken = isOver || (isIncomplete && isQuiet);
      isQuiet = true;
      return isBroken;
    },
  };
}
