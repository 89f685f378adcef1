/**
 * The server's end of `remote-fetch.ts`: asks the server itself and keeps what is left of each reply.
 *
 * X4 One question in each turn of the event loop, all workers together: Node hands over a thousand messages in one turn,
 * and graph code can ask as fast as it is answered.
 */
import { shareTurns } from '../../kernel/turn.ts';
import type { ServerSide, WireReply } from './sides.ts';

export interface LocalFetch extends Pick<ServerSide, 'openReply' | 'readReply' | 'dropReply'> {
  /** The other side is gone: every reply under way is given up. */
  close(): void;
}

interface Exchange {
  readonly abort: AbortController;
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

const turn = shareTurns();

export function createLocalFetch(ask: typeof fetch): LocalFetch {
  const exchanges = new Map<number, Exchange>();

  function drop(id: number): void {
    const exchange = exchanges.get(id);
    exchanges.delete(id);
    exchange?.abort.abort(new TypeError('the request was given up'));
  }

  return {
    async openReply(id, { url, method, headers, body }): Promise<WireReply> {
      const exchange: Exchange = { abort: new AbortController() };
      exchanges.set(id, exchange);
      await turn();
      try {
        const reply = await ask(url, {
          method,
          headers: headers.map(([name, value]): [string, string] => [name, value]),
          ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
          signal: exchange.abort.signal,
        });
        const { status, statusText } = reply;
        if (reply.body === null) exchanges.delete(id);
        else exchange.reader = reply.body.getReader();
        return { status, statusText, headers: [...reply.headers], hasBody: reply.body !== null };
      } catch (error) {
        exchanges.delete(id);
        throw error;
      }
    },
    async readReply(id) {
      const reader = exchanges.get(id)?.reader;
      if (reader === undefined) throw new TypeError('the reply broke off');
      try {
        const { done, value } = await reader.read();
        if (done) exchanges.delete(id);
        return done ? null : value;
      } catch (error) {
        exchanges.delete(id);
        throw error;
      }
    },
    dropReply: drop,
    close() {
      for (const id of [...exchanges.keys()]) drop(id);
    },
  };
}
