/**
 * Server-sent events that outlive their connection. A follower reconnects with the id of the last event that it has seen, so
 * it misses nothing (S2), and it notices a dead connection by the missing heartbeats.
 */
import { ApiError, send, type Wanted } from './http.ts';

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export type Connection = 'connecting' | 'live' | 'lost' | 'gone';

export interface Following {
  /** The id to start after. */
  readonly after: string;
  readonly query?: Wanted['query'];
  readonly signal: AbortSignal;
  onEvents(events: readonly ServerEvent[]): void;
  /** Heartbeats come every 5 s. */
  onBeat(): void;
  onConnection(connection: Connection): void;
}

const MIN_RETRY_MS = 300;
const MAX_RETRY_MS = 4_000;
/** Three heartbeats. */
const MAX_SILENCE_MS = 16_000;

export async function follow(path: string, following: Following): Promise<void> {
  const { signal, onConnection } = following;
  let last = following.after;
  let retryMs = MIN_RETRY_MS;
  while (!signal.aborted) {
    onConnection('connecting');
    const watch = openWatch(signal);
    try {
      const reply = await send(path, {
        ...(following.query && { query: following.query }),
        headers: { 'last-event-id': last },
        signal: watch.signal,
      });
      onConnection('live');
      following.onBeat();
      retryMs = MIN_RETRY_MS;
      for await (const text of linesOf(reply.body!, watch.touch)) {
        const { events, hasBeat } = text;
        last = events.findLast(({ id }) => id !== undefined)?.id ?? last;
        if (events.length > 0) following.onEvents(events);
        else if (hasBeat) following.onBeat();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status < 500) return onConnection('gone');
    } finally {
      watch.close();
    }
    if (signal.aborted) return;
    onConnection('lost');
    await pause(retryMs, signal);
    retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
  }
}

/** Reads a stream of events to its end, once. */
export async function readEvents(reply: Response, onEvent: (event: ServerEvent) => void): Promise<void> {
  for await (const { events } of linesOf(reply.body!, () => undefined)) events.forEach(onEvent);
}

function openWatch(outer: AbortSignal) {
  const own = new AbortController();
  const stop = (): void => own.abort();
  outer.addEventListener('abort', stop);
  let timer = setTimeout(stop, MAX_SILENCE_MS);
  return {
    signal: own.signal,
    touch(): void {
      clearTimeout(timer);
      timer = setTimeout(stop, MAX_SILENCE_MS);
    },
    close(): void {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
    },
  };
}

/** Yields the whole events of each chunk that arrives. */
async function* linesOf(body: ReadableStream<Uint8Array>, touch: () => void) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      touch();
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop()!;
      yield {
        events: blocks.flatMap((block) => parseBlock(block) ?? []),
        hasBeat: blocks.some((block) => block.startsWith(':')),
      };
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(event|data|id): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, (fields.get(name) ?? '') + value);
  }
  const data = fields.get('data');
  return data === undefined
    ? undefined
    : { event: fields.get('event') ?? 'message', data, id: fields.get('id') };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
