/** Defines all replies with an error status, and helpers for successful ones. */
import { notServedText } from '../graphs/port.ts';
import { encodeJson, MAX_RESPONSE_CHARS } from '../kernel/json-text.ts';
import { ownReply, partsOf } from './own-reply.ts';
import type { StoreProblem } from '../actors/store.ts';
import type { Refusal } from '../thread/decide.ts';
import { SearchRefused } from '../store/port/views/views.ts';

/** An HTTP error that routes throw and the app renders as `{"detail": message}`. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = 'HttpProblem';
    this.status = status;
    this.headers = headers;
  }
}

/** Another request has changed the thread or cron since it was read. Callers that can retry catch it. */
export class ConcurrencyConflict extends HttpProblem {
  constructor() {
    super(409, 'The thread has changed since it was read; try again.');
    this.name = 'ConcurrencyConflict';
  }
}

export const invalid = (detail: string): HttpProblem => new HttpProblem(422, detail);
/** RFC 9110, 15.5.16: `accept-encoding` names the encodings that a retry may use. */
export const encodedBody = (encoding: string): HttpProblem =>
  new HttpProblem(415, `content-encoding: expected none, found "${encoding}"`, {
    'accept-encoding': 'identity',
    connection: 'close',
  });

export const wrongMethod = (methods: readonly string[]): HttpProblem =>
  new HttpProblem(405, 'Method Not Allowed', { allow: methods.join(', ') });
/** A redirect that keeps method and body. */
export const redirect = (location: string): Response => ownReply(null, 307, { location });

export const toStudio = (): Response => ownReply(null, 302, { location: '/studio', vary: 'accept' });

export const tooLarge = (limit: number): HttpProblem =>
  new HttpProblem(413, `body: expected at most ${limit} bytes`, { connection: 'close' });

/** `kernel/json-scan.ts` has the weights of lists, objects and members. */
export const tooManyValues = (limit: number): HttpProblem =>
  new HttpProblem(
    413,
    `body: expected at most ${limit} values (lists, objects and their members count as several)`,
  );

export const pageTooLarge = (what: string, advice: string): HttpProblem =>
  new HttpProblem(
    400,
    `limit: expected a page of at most ${MAX_RESPONSE_CHARS / 2 ** 20} MB. ${what} are larger. ${advice}`,
  );

export const tooMuchAtOnce = (): HttpProblem =>
  new HttpProblem(503, 'Too many large bodies arrive at once; try again later.', {
    'retry-after': '1',
    connection: 'close',
  });

export const tooManyFiles = (): HttpProblem =>
  new HttpProblem(503, 'Too many threads are exported or imported at once; try again later.', {
    'retry-after': '1',
    connection: 'close',
  });

export const notAuthorized = (): HttpProblem => new HttpProblem(403, 'Not authorized');
export const noAddress = (): HttpProblem =>
  new HttpProblem(400, 'The target of the request is not a valid URL.');
export const badHost = (hosts: number): HttpProblem =>
  new HttpProblem(400, `host: expected one header of this name, got ${hosts}`, { connection: 'close' });
export const foreignHost = (): HttpProblem =>
  new HttpProblem(421, 'host: expected localhost or a loopback address, because the server listens on one');
export const noRoute = (): HttpProblem => new HttpProblem(404, 'Not found');
export const noThread = (id: string): HttpProblem => new HttpProblem(404, `Thread with ID ${id} not found`);
export const noRun = (): HttpProblem => new HttpProblem(404, 'Run not found');
export const noAssistant = (): HttpProblem => new HttpProblem(404, 'Assistant not found');
export const noGraph = (id: string): HttpProblem => new HttpProblem(404, `Graph "${id}" not found`);
export const graphGone = (id: string, served: readonly string[]): HttpProblem =>
  new HttpProblem(404, notServedText(id, served));
export const notServed = (id: string, reason: string): HttpProblem =>
  new HttpProblem(422, `Graph "${id}" is not served: ${reason}`);
export const noAssistantFor = (id: string): HttpProblem =>
  new HttpProblem(
    404,
    `No assistant found for "${id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
  );
export const noVersion = (): HttpProblem => new HttpProblem(404, 'Assistant version not found');
export const noVersionsOf = (id: string): HttpProblem => new HttpProblem(404, `Assistant "${id}" not found.`);
export const assistantExists = (): HttpProblem => new HttpProblem(409, 'Assistant already exists');
export const assistantBusy = (): HttpProblem =>
  new HttpProblem(
    409,
    'Threads of the assistant have runs that have not ended. Cancel them or wait for them first.',
  );
export const threadExists = (): HttpProblem => new HttpProblem(409, 'Thread already exists');

/** A3 Whose the id is, and what of it is taken, is not told. */
export const importTaken = (): HttpProblem =>
  new HttpProblem(409, 'The thread or one of its runs exists here; new_id=true imports it under new ids');

export const readOnly = (): HttpProblem =>
  new HttpProblem(409, 'This server shows an exported thread: nothing can be changed or run here.');

export const emptyBody = (): HttpProblem => new HttpProblem(400, 'Request body cannot be empty');
export const noThreadToResume = (): HttpProblem =>
  new HttpProblem(400, 'You must provide a thread_id when resuming.');
export const noCron = (id: string): HttpProblem => new HttpProblem(404, `Cron with ID ${id} not found`);
export const noWebhook = (): HttpProblem => new HttpProblem(404, 'Webhook not found');
export const noBody = (): HttpProblem =>
  new HttpProblem(409, 'The body of the webhook is no longer stored, so it cannot be sent again.');

export const noItem = (): HttpProblem => new HttpProblem(404, 'Item not found');
export const reservedRoot = (namespace: readonly string[]): HttpProblem =>
  new HttpProblem(400, `Root label for namespace cannot be "langgraph". Got: ${namespace.join('.')}`);
export const noNamespace = (): HttpProblem => new HttpProblem(400, 'Namespace is required');

/** Maps an error of the item store to a reply. */
export function storeRefused({ code, message }: StoreProblem): HttpProblem {
  switch (code) {
    case 'scan-limit':
    case 'too-large':
      return new HttpProblem(400, message);
    case 'embedding':
    case 'lease-stale':
      return new HttpProblem(500, message);
  }
}

/** Existing clients expect 409 instead of 404 for a copy of a missing thread. */
export const nothingToCopy = (): HttpProblem => new HttpProblem(409, 'Thread not found');

const busy = (): HttpProblem =>
  new HttpProblem(
    409,
    'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
  );

export const alreadyAnswered = (): HttpProblem =>
  new HttpProblem(
    409,
    'No interrupt is open for this answer: it was answered already, or is being answered.',
  );

/** A run is open, or concurrent state updates exhausted the retries. */
export const stateBusy = (): HttpProblem => new HttpProblem(409, 'Thread is busy');
export const noGraphId = (threadId: string): HttpProblem =>
  new HttpProblem(400, `Thread ${threadId} has no graph ID`);
export const updateRefused = (words: string): HttpProblem =>
  new HttpProblem(400, `The graph refused the update: ${words}`);
export const noThreadVersion = (version: number, last: number): HttpProblem =>
  new HttpProblem(404, `Version ${version} not found: the thread has the versions 1 to ${last}`);
export const noCheckpoint = (id: string): HttpProblem => new HttpProblem(404, `Checkpoint ${id} not found`);

export const unavailable = (): HttpProblem =>
  new HttpProblem(503, 'The server accepts no changes now; try again later.', { 'retry-after': '1' });
export const noSpace = (): HttpProblem =>
  new HttpProblem(
    507,
    'The disk of the server is full: only reads and deletions are possible until space is freed.',
    {
      'retry-after': '10',
    },
  );
/** No graph worker can answer now. */
export const noAnswer = (): HttpProblem =>
  new HttpProblem(503, 'No graph worker responds now; try again later.', { 'retry-after': '1' });
export const stillLoading = (words: string): HttpProblem =>
  new HttpProblem(503, `${words}; try again later.`, { 'retry-after': '1' });
/** Graph code threw during a query. */
export const graphFailed = (words: string): HttpProblem => new HttpProblem(500, `The graph failed: ${words}`);
export const stopping = (): HttpProblem =>
  new HttpProblem(503, 'The server is stopping.', { 'retry-after': '5', connection: 'close' });
export const notWell = (): HttpProblem => new HttpProblem(500, 'The log does not respond.');
/** The server shares its log with others and is cut off from it: it may execute nothing now. */
export const cutOff = (): HttpProblem =>
  new HttpProblem(503, 'The server is cut off from its log.', { 'retry-after': '1' });
export const internal = (): HttpProblem => new HttpProblem(500, 'Internal server error');

/** A search that the reader thread refused or did not finish in time. */
export function notSearched({ reason, limitMs }: SearchRefused): HttpProblem {
  if (reason === 'slow')
    return new HttpProblem(
      503,
      `The search took longer than ${limitMs / 1000} s. Narrow it: by ids, by status, or by a value of the metadata's top level.`,
    );
  return new HttpProblem(503, 'Too many searches wait; try again later.', { 'retry-after': '1' });
}

/** Maps a refusal of the thread's actor to a reply. */
export function refused(refusal: Refusal, threadId: string): HttpProblem {
  switch (refusal.code) {
    case 'thread-missing':
      return noThread(threadId);
    case 'thread-exists':
      return threadExists();
    case 'thread-busy':
      return busy();
    case 'thread-changed':
      return stateBusy();
    case 'concurrency-conflict':
      return new ConcurrencyConflict();
    case 'run-exists':
      return new HttpProblem(409, 'Run already exists');
    case 'run-not-open':
    case 'lease-stale':
      return noRun();
  }
}

export const needsUpgrade = (): HttpProblem =>
  new HttpProblem(
    426,
    'This endpoint is a WebSocket: expected an upgrade request. For a stream, POST a subscription to the same path.',
    {
      upgrade: 'websocket',
      connection: 'upgrade',
    },
  );
/** Placeholder that is never sent: the connection has become a WebSocket. */
export const switched = (): Response => ownReply(null, 204, {});

export const accepted = (): Response => ownReply(null, 202, {});
export const noContent = (): Response => ownReply(null, 204, {});

/** Replaces `Response.json`, whose body is a stream: unwrapping it costs more than the rest of a reply. */
export const jsonReply = (
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response => ownReply(encodeJson(value), status, { 'content-type': 'application/json', ...headers });

/** The bytes of a large JSON reply; undefined for a small one and for a response that middleware has copied. */
export function largeBodyOf(response: Response): Uint8Array | undefined {
  const body = partsOf(response)?.body;
  return body instanceof Uint8Array ? body : undefined;
}

export const problemReply = ({ message, status, headers }: HttpProblem): Response =>
  jsonReply({ detail: message }, status, headers);
