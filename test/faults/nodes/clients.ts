/**
 * Clients of all nodes. Each sends every request, with a key, to one node after another until it is answered, notes what it was told,
 * and compares what it is told later, anywhere, with its notes.
 */
import { randomUUID } from 'node:crypto';
import { collect, type ReceivedFrame } from '../../e2e/frames.ts';
import type { Random } from '../../support/random.ts';
import { scaled } from '../../support/scaled.ts';
import type { Node } from './cluster.ts';

export interface NotedRun {
  readonly threadId: string;
  readonly runId: string;
  readonly hasWebhook: boolean;
  /** Whether a cancel was asked for. */
  isCancelled: boolean;
  /** What streamed; undefined for a run that nobody watched. */
  frames?: ReceivedFrame[];
}

/** What the nodes have acknowledged. */
export interface Notes {
  readonly threads: Map<string, Record<string, unknown>>;
  /** By tag, which is in the run's metadata and in the path of its webhook; undefined until acknowledged. */
  readonly runs: Map<string, NotedRun | undefined>;
  readonly problems: string[];
  /** How many requests had to be sent again. */
  repeated: number;
}

export interface Client {
  /** Comes to the end of what it is about. */
  stop(): Promise<void>;
}

export interface ClientOptions {
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly notes: Notes;
  readonly webhookUrl: (path: string) => string;
  /** A kind of work of the case's own, which takes its turn with the others. */
  readonly more?: readonly (() => Promise<unknown>)[];
}

interface Reply {
  readonly status: number;
  readonly json: any;
}

/** A node that says nothing for so long is left for another one. */
const PATIENCE_MS = scaled(6_000);
const PAUSE_MS = 50;
/** A server that has no time to read the request, and one without a database. */
const UNANSWERED = [408, 503];
const OVER = ['success', 'error', 'timeout', 'interrupted'];

export function beClient({ nodes, random, notes, webhookUrl, more = [] }: ClientOptions): Client {
  const { threads, runs, problems } = notes;
  let isStopping = false;

  /** Asks one node after another until `read` has an answer. */
  async function insist<T>(
    path: string,
    request: RequestInit,
    read: (response: Response, heard: () => void) => Promise<T | undefined>,
  ): Promise<T> {
    for (let tries = 0; ; tries++) {
      if (tries > 0) {
        notes.repeated += 1;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      const { server } = random.pick(nodes);
      if (server === undefined) continue;
      const impatience = new AbortController();
      const timer = setTimeout(() => impatience.abort(), PATIENCE_MS);
      try {
        const response = await fetch(`${server.url}${path}`, { ...request, signal: impatience.signal });
        const answer = UNANSWERED.includes(response.status)
          ? undefined
          : await read(response, () => void timer.refresh());
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!isAway(error)) throw error;
      } finally {
        clearTimeout(timer);
        impatience.abort();
      }
    }
  }

  const ask = (method: string, path: string, body?: object, key?: string): Promise<Reply> =>
    insist(
      path,
      {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
      },
      async (response) => {
        const text = await response.text();
        return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
      },
    );

  async function expect(
    status: number,
    method: string,
    path: string,
    body?: object,
    key?: string,
  ): Promise<any> {
    const reply = await ask(method, path, body, key);
    if (reply.status !== status)
      problems.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.json)}`);
    return reply.json;
  }

  /** Reads the run's frames to their end, on one node after another, and leaves nodes that are well besides. */
  async function watch({ threadId, runId, frames }: NotedRun): Promise<void> {
    const path = `/threads/${threadId}/runs/${runId}`;
    for (let isComplete = false; !isComplete;) {
      const leaveAfter = random.chance(0.5) ? random.int(1, 6) : Infinity;
      const headers = { 'last-event-id': String(frames!.at(-1)?.id ?? -1) };
      let count = 0;
      isComplete = await insist(`${path}/stream`, { headers }, async (response, heard) => {
        const { broken } = await collect(response, (frame) => {
          heard();
          frames!.push(frame);
          if ((count += 1) === leaveAfter) throw new Left();
        }).catch((error: unknown) => {
          if (error instanceof Left) return { broken: true };
          throw error;
        });
        return !broken;
      });
    }
    const { status } = await expect(200, 'GET', path);
    if (!OVER.includes(status)) problems.push(`${path} is ${status}, and its stream has ended`);
  }

  async function beginRun(path: string, threadId: string, hasWebhook: boolean) {
    const tag = `t-${randomUUID()}`;
    const count = random.int(3, 5);
    const body = {
      ...{ assistant_id: 'paced', input: { messages: [{ role: 'user', content: tag }] }, metadata: { tag } },
      config: { configurable: { tag, count, pauseMs: random.int(400, 1_200) } },
      stream_mode: ['values', 'updates'],
      ...(hasWebhook && { webhook: webhookUrl(`/${tag}`) }),
    };
    runs.set(tag, undefined);
    const { run_id: runId } = await expect(200, 'POST', path, body, tag);
    const run: NotedRun = { threadId, runId, hasWebhook, isCancelled: false };
    runs.set(tag, run);
    return { run, tag, texts: [tag, ...Array.from({ length: count }, (_, i) => `${tag} ${i + 1}`)] };
  }

  /** A thread, and runs on it one after another or all at once. */
  async function talk(): Promise<void> {
    const threadId = randomUUID();
    const path = `/threads/${threadId}`;
    await expect(200, 'POST', '/threads', { thread_id: threadId, if_exists: 'do_nothing' });
    threads.set(threadId, {});
    const metadata = { [randomUUID()]: random.int(0, 1_000) };
    await expect(200, 'PATCH', path, { metadata });
    Object.assign(threads.get(threadId)!, metadata);
    const isQueue = random.chance(0.3);
    const said: { run: NotedRun; texts: string[] }[] = [];
    for (let left = random.int(1, 2); left > 0; left--) {
      const begun = await beginRun(`${path}/runs`, threadId, random.chance(0.5));
      said.push(begun);
      if (!isQueue) await end(begun.run);
    }
    if (isQueue) await Promise.all(said.map(({ run }) => end(run)));
    const { values } = await expect(200, 'GET', `${path}/state`);
    const heard = ((values.messages ?? []) as { content: string }[]).map(({ content }) => content);
    const wanted = said.flatMap(({ run, texts }) =>
      run.isCancelled ? texts.slice(0, texts.filter((text) => heard.includes(text)).length) : texts,
    );
    if (JSON.stringify(heard) !== JSON.stringify(wanted))
      problems.push(`${path}: the state is ${JSON.stringify(heard)} instead of ${JSON.stringify(wanted)}`);
    const thread = await expect(200, 'GET', path);
    for (const [key, value] of Object.entries(threads.get(threadId)!))
      if (thread.metadata[key] !== value) problems.push(`${path} has lost its metadata ${key}`);
  }

  /** Comes to the run's end in one of the ways in which clients do. */
  async function end(run: NotedRun): Promise<void> {
    const path = `/threads/${run.threadId}/runs/${run.runId}`;
    const way = random.pick(['watch', 'watch', 'watch', 'join', 'cancel']);
    if (way === 'watch') {
      run.frames = [];
      return watch(run);
    }
    if (way === 'cancel') {
      run.isCancelled = true;
      const { status, json } = await ask('POST', `${path}/cancel?action=interrupt`);
      if (![202, 404, 409].includes(status))
        problems.push(`${path}/cancel: ${status} ${JSON.stringify(json)}`);
    }
    // A join lasts as long as the run.
    for (;;) {
      const { status } = await expect(200, 'GET', path);
      if (OVER.includes(status)) return;
      await new Promise((resolve) => setTimeout(resolve, 4 * PAUSE_MS));
    }
  }

  async function keep(): Promise<void> {
    const item = {
      namespace: ['nodes', randomUUID()],
      key: 'k',
      value: { number: random.int(0, 1_000_000) },
    };
    await expect(204, 'PUT', '/store/items', item);
    const found = await expect(200, 'GET', `/store/items?namespace=${item.namespace.join('.')}&key=k`);
    if (found.value?.number !== item.value.number)
      problems.push(`item ${item.namespace}: ${JSON.stringify(found)} instead of ${item.value.number}`);
  }

  async function work(): Promise<void> {
    while (!isStopping) await random.pick([talk, talk, talk, keep, ...more])();
  }

  const done = work().catch(
    (error: unknown) => void problems.push(`a client failed: ${(error as Error).stack}`),
  );
  return {
    async stop() {
      isStopping = true;
      await done;
    },
  };
}

/** The client goes away by itself. */
class Left extends Error {}

const isAway = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'AbortError' || /fetch failed|terminated|^503/.test(error.message));
