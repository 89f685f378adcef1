/** Reads an answer piece by piece, so that tests can look at ids, comments, raw bytes and the moment of the end. */
export interface Frame {
  readonly event: string;
  readonly data: unknown;
  readonly id: string;
}

export interface StreamReader {
  readonly status: number;
  readonly headers: Headers;
  /** The next frame; undefined when the stream has ended. */
  next(): Promise<Frame | undefined>;
  /** All frames up to the end. */
  rest(): Promise<Frame[]>;
  /** Everything received so far, as it came. */
  text(): string;
  /** Breaks the connection off. */
  leave(): void;
}

export interface StreamOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export async function openStream(url: string, options: StreamOptions = {}): Promise<StreamReader> {
  const { body, headers = {} } = options;
  const leaving = new AbortController();
  const response = await fetch(url, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: leaving.signal,
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let received = '';
  let taken = 0;

  async function next(): Promise<Frame | undefined> {
    for (;;) {
      const end = received.indexOf('\r\n\r\n', taken);
      if (end >= 0) {
        const block = received.slice(taken, end);
        taken = end + 4;
        if (isComment(block)) continue;
        return parseFrame(block);
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      received += decoder.decode(value, { stream: true });
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    next,
    async rest() {
      const frames: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame);
      return frames;
    },
    text: () => received,
    leave: () => leaving.abort(),
  };
}

export async function readFrames(url: string, options: StreamOptions = {}): Promise<Frame[]> {
  return (await openStream(url, options)).rest();
}

/** Starts a run on the thread and reads its stream to the end. The input is a greeting unless told otherwise. */
export const streamRun = (s: { url: string }, threadId: string, body: object): Promise<Frame[]> =>
  readFrames(`${s.url}/threads/${threadId}/runs/stream`, {
    body: { input: { messages: [{ role: 'user', content: 'hi' }] }, ...body },
  });

/** The data of the frames with this name. Untyped, because its shape is what tests assert. */
export const dataOf = (frames: readonly Frame[], name: string): any[] =>
  frames.filter(({ event }) => event === name).map(({ data }) => data);

/** What was sent, without the comments that keep the connection alive: the same for every reader. */
export const withoutComments = (text: string): string => text.replace(/^:[^\n]*\n(?:\r\n)?/gm, '');

/** A heartbeat is a block of its own. */
const isComment = (block: string): boolean => /^:[^\n]*$/.test(block);

/** Throws for a frame that is not exactly event, data and id on one line each. */
function parseFrame(block: string): Frame {
  const match = /^event: (.+)\r\ndata: (.+)\r\nid: (.+)$/.exec(block);
  if (match === null) throw new Error(`not a frame: ${JSON.stringify(block)}`);
  const [, event, data, id] = match;
  return { event: event!, data: JSON.parse(data!) as unknown, id: id! };
}
