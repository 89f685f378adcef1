/**
 * One end of the pipe between the server and a graph worker. Messages arrive in the order in which they were sent, over
 * all streams. What is sent within one turn of the event loop is one write.
 */
import type { Duplex } from 'node:stream';
import { createDecoder, encode, type Message } from './frame.ts';
import { TYPE, type WireError } from './messages.ts';
import { fromWireError, toWireError } from './wire-error.ts';

export interface Connection {
  /** Throws `ValueTooLarge`. Does nothing once the connection is closed. */
  send(type: number, stream: number, head: object, blobs?: readonly string[]): void;
  /** Resolves with the reply. Rejects with the error of the other end, or with that of `close`. */
  call(stream: number, head: object, blobs?: readonly string[]): Promise<Message>;
  /** Answers a call with what `work` resolves or rejects with. */
  reply(call: Message, work: () => Promise<{ head: object; blobs?: readonly string[] }>): void;
  /** Rejects the calls under way and ends the pipe. */
  close(error: Error): void;
}

interface Waiting {
  resolve(reply: Message): void;
  reject(error: Error): void;
}

/** `onEnd` is told once, when the other end is gone or breaks the protocol. */
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
    const found = waiting.get(reply.head.c);
    waiting.delete(reply.head.c);
    const error = reply.head.error as WireError | undefined;
    if (error === undefined) found?.resolve(reply);
    else found?.reject(fromWireError(error));
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

  let isOver = false;
  const end = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    onEnd(error);
  };
  socket.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (error) {
      end(error as Error);
    }
  });
  // The end of the process says why the pipe broke.
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
  };
}
