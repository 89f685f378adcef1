/** Words of the tests of a thread's events: the official client over either transport, and raw readers beside it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import { WebSocket } from 'ws';
import type { TestServer } from '../support/with-server.ts';
import { ended, say } from './scene.ts';

export const TRANSPORTS = ['sse', 'websocket'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface Event {
  readonly type: 'event';
  readonly event_id: string;
  readonly seq: number;
  readonly method: string;
  readonly params: {
    readonly namespace: string[];
    readonly timestamp: number;
    readonly node?: string;
    readonly data: any;
  };
}

export const ALL = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
];

/** The official client's handle of a thread; without an id it makes one of its own. */
export const openThread = (
  s: TestServer,
  transport: Transport,
  assistantId: string,
  threadId: string = crypto.randomUUID(),
) =>
  s.client.threads.stream(threadId, {
    assistantId,
    transport,
    webSocketFactory: (url: string) => new WebSocket(url) as unknown as globalThis.WebSocket,
  });

export const isRoot = ({ method, params }: Event, ...states: string[]): boolean =>
  method === 'lifecycle' && params.namespace.length === 0 && states.includes(params.data.event);

export const isEnd = (event: Event): boolean => isRoot(event, 'completed', 'failed', 'interrupted');

/** `method:event` of lifecycle and messages, the method of the rest. */
export const nameOf = ({ method, params }: Event): string =>
  params.data?.event === undefined ? method : `${method}:${params.data.event}`;

export interface Reader {
  /** The next event; undefined when the connection has ended. */
  next(): Promise<Event | undefined>;
  /** Up to and including the first one that is wanted. */
  until(wanted: (event: Event) => boolean): Promise<Event[]>;
  leave(): void;
}

/** Raw text of the events of a stream, one per block, without comments. */
export async function openEvents(
  s: TestServer,
  threadId: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Reader & { readonly texts: string[] }> {
  const leaving = new AbortController();
  const response = await fetch(`${s.url}/threads/${threadId}/stream/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  assert.equal(response.status, 200);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const texts: string[] = [];
  const next = async (): Promise<Event | undefined> => {
    for (;;) {
      text = text.replace(/^(:.*\r\n\r\n)+/, '');
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const block = text.slice(0, end + 2);
        text = text.slice(end + 2);
        texts.push(block);
        const match = /^event: ([a-z.]+)\ndata: (.*)\nid: (\d+-\d+)\n\n$/.exec(block);
        assert.ok(match, `not an event: ${JSON.stringify(block)}`);
        const event = JSON.parse(match[2]!) as Event;
        assert.equal(event.method, match[1]);
        if (!event.event_id.startsWith('synth:')) assert.equal(event.event_id, match[3]);
        return event;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  return { texts, next, until: (wanted) => until(next, wanted), leave: () => leaving.abort() };
}

export interface Socket extends Reader {
  readonly socket: WebSocket;
  send(command: object | string): void;
  /** Sends a command and resolves with its answer; events that come before stay for `next`. */
  ask(method: string, params?: object): Promise<any>;
  /** The next message that is no event. */
  answer(): Promise<any>;
  /** Everything received so far, in order. */
  readonly messages: any[];
}

export async function openSocket(
  s: TestServer,
  threadId: string,
  headers: Record<string, string> = {},
): Promise<Socket> {
  const socket = new WebSocket(`${s.url.replace('http', 'ws')}/threads/${threadId}/stream/events`, {
    headers,
  });
  const messages: any[] = [];
  const queues: Record<'event' | 'answer', any[]> = { event: [], answer: [] };
  let wake: () => void = () => undefined;
  let open = true;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    messages.push(message);
    queues[message.type === 'event' ? 'event' : 'answer'].push(message);
    wake();
  });
  socket.on('close', () => {
    open = false;
    wake();
  });
  await once(socket, 'open');
  const take = async (kind: 'event' | 'answer'): Promise<any> => {
    while (queues[kind].length === 0) {
      if (!open) return undefined;
      await new Promise<void>((resolve) => {
        const before = wake;
        wake = () => {
          before();
          resolve();
        };
      });
    }
    return queues[kind].shift();
  };
  let id = 0;
  const send = (command: object | string): void =>
    socket.send(typeof command === 'string' ? command : JSON.stringify(command));
  const next = (): Promise<Event | undefined> => take('event');
  return {
    socket,
    messages,
    send,
    next,
    until: (wanted) => until(next, wanted),
    answer: () => take('answer'),
    async ask(method, params = {}) {
      id += 1;
      send({ id, method, params });
      return take('answer');
    },
    leave: () => socket.terminate(),
  };
}

async function until(
  next: () => Promise<Event | undefined>,
  wanted: (event: Event) => boolean,
): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const event = await next();
    assert.ok(event, `ended after ${events.map(nameOf).join(' ')}`);
    events.push(event);
    if (wanted(event)) return events;
  }
}

/** The answer to a command sent over HTTP. */
export async function command(
  s: TestServer,
  threadId: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<any> {
  const answer = await s.request('POST', `/threads/${threadId}/commands`, { id: 7, method, params }, headers);
  assert.equal(answer.status, 200);
  return answer.json;
}

/** All events of a thread that has ended `runs` times. */
export async function eventsOf(
  s: TestServer,
  threadId: string,
  { runs = 1, ...body }: { runs?: number; [field: string]: unknown } = {},
): Promise<Event[]> {
  const reader = await openEvents(s, threadId, { channels: ALL, ...body });
  const events: Event[] = [];
  for (let i = 0; i < runs; i += 1) events.push(...(await reader.until(isEnd)));
  reader.leave();
  return events;
}

/** Opens the store that the hooks of the official client are built on; `until` resolves once its snapshot is as wanted. */
export function openController(s: TestServer, transport: Transport, assistantId: string, threadId?: string) {
  const controller = new StreamController<Record<string, unknown>>({
    client: s.client as never,
    assistantId,
    transport,
    webSocketFactory: (url: string) => new WebSocket(url) as unknown as globalThis.WebSocket,
    ...(threadId !== undefined && { threadId }),
  } as never);
  const snapshot = () => controller.rootStore.getSnapshot();
  const until = (wanted: (now: ReturnType<typeof snapshot>) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!wanted(snapshot())) return;
        unsubscribe();
        resolve();
      };
      const unsubscribe = controller.rootStore.subscribe(look);
      look();
    });
  /** Its own subscription shows that a run has completed; another one tells `isLoading`, and may do so earlier. */
  const completed = (): Promise<void> =>
    new Promise((resolve) => {
      controller.registry.acquire({
        ...{ key: 'completed', namespace: [], initial: undefined },
        open: ({ rootBus }) => ({
          dispose: rootBus.subscribe((event) => isRoot(event as Event, 'completed') && resolve()),
        }),
      });
    });
  const texts = () => snapshot().messages.map(({ text }) => text);
  return { controller, until, completed, snapshot, texts };
}

/** Runs until the graph asks; resolves with the ids of its questions. */
export async function untilAsked(s: TestServer, threadId: string, assistantId: string): Promise<string[]> {
  const { result } = await command(s, threadId, 'run.start', { assistant_id: assistantId, input: {} });
  await s.until(ended(result.run_id));
  return (await eventsOf(s, threadId, { channels: ['input', 'lifecycle'] }))
    .filter(({ method }) => method === 'input.requested')
    .map(({ params }) => params.data.interrupt_id as string);
}

/** Starts a run by command and waits for its end; resolves with its id. */
export async function finished(s: TestServer, threadId: string, assistantId: string): Promise<string> {
  const { result } = await command(s, threadId, 'run.start', { assistant_id: assistantId, input: say('x') });
  await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === result.run_id);
  return result.run_id;
}
