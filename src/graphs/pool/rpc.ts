/**
 * Calls between two threads: each side asks the other's methods and hears their answers or errors. What is sent within
 * one turn of microtasks travels as one message.
 *
 * Arguments and answers are plain data. Of an error its name, message and stack arrive; whoever has to know it
 * recognises it by its name.
 */
import { shorten } from '../failure.ts';

/** `[id, method, args]` asks; with id 0 no answer is wanted. `[id, answer]` and `[id, undefined, error]` answer. */
type Message =
  | readonly ['ask', number, string, readonly unknown[]]
  | readonly ['tell', number, unknown]
  | readonly ['fail', number, WireError];

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Rpc {
  /** Rejects with the other side's error, or with the one given to `close`. */
  call<T>(method: string, ...args: readonly unknown[]): Promise<T>;
  /** Says something that wants no answer. */
  note(method: string, ...args: readonly unknown[]): void;
  /** What came from the other side. */
  receive(batch: unknown): void;
  /** Calls under way and to come reject with `error`; nothing is sent any more. */
  close(error: Error): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** `post` throws for what cannot be copied. `methods` may be filled until the first message is received. */
export function openRpc(post: (batch: readonly Message[]) => void, methods: Methods): Rpc {
  /** By their id. */
  const waiting = new Map<number, Waiting>();
  let queued: Message[] = [];
  let last = 0;
  let closed: Error | undefined;

  function send(message: Message): void {
    if (closed !== undefined) return;
    queued.push(message);
    if (queued.length === 1) queueMicrotask(flush);
  }

  function flush(): void {
    const batch = queued;
    queued = [];
    if (closed !== undefined) return;
    try {
      post(batch);
    } catch (error) {
      if (batch.length > 1) for (const message of batch) postAlone(message);
      else if (batch[0] !== undefined) blame(batch[0], error);
    }
  }

  /** One message that cannot be copied must not take the others with it. */
  function postAlone(message: Message): void {
    try {
      post([message]);
    } catch (error) {
      blame(message, error);
    }
  }

  function blame([kind, id]: Message, error: unknown): void {
    if (kind === 'tell') post([['fail', id, toWireError(error)]]);
    if (kind === 'ask') settle(id)?.reject(fromWireError(toWireError(error)));
  }

  function settle(id: number): Waiting | undefined {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  }

  async function answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    try {
      if (!Object.hasOwn(methods, name)) throw new TypeError(`there is no method "${name}"`);
      const method = methods[name] as (...args: readonly unknown[]) => unknown;
      const value = await method(...args);
      if (id !== 0) send(['tell', id, value]);
    } catch (error) {
      if (id !== 0) send(['fail', id, toWireError(error)]);
      else throw error;
    }
  }

  return {
    call: <T>(method: string, ...args: readonly unknown[]) =>
      new Promise<T>((resolve, reject) => {
        if (closed !== undefined) return reject(closed);
        waiting.set(++last, { resolve: resolve as (value: unknown) => void, reject });
        send(['ask', last, method, args]);
      }),
    note: (method, ...args) => send(['ask', 0, method, args]),
    receive(batch) {
      for (const message of batch as readonly Message[]) {
        const [kind, id] = message;
        if (kind === 'ask') void answer(id, message[2], message[3]);
        else if (kind === 'tell') settle(id)?.resolve(message[2]);
        else settle(id)?.reject(fromWireError(message[2]));
      }
    },
    close(error) {
      closed ??= error;
      for (const id of [...waiting.keys()]) settle(id)?.reject(closed);
    },
  };
}

/** Of anything that can be thrown; never throws itself. */
export function toWireError(thrown: unknown): WireError {
  try {
    if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
      const { name, message, stack } = thrown as Error;
      return {
        name: typeof name === 'string' ? name : 'Error',
        message: shorten(String(message)),
        ...(typeof stack === 'string' && { stack: shorten(stack) }),
      };
    }
    return { name: 'Error', message: shorten(String(thrown)) };
  } catch {
    return { name: 'Error', message: 'something that cannot be shown' };
  }
}

export function fromWireError({ name, message, stack }: WireError): Error {
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
