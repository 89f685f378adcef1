/** A client that does one thing after another until its server is gone. */
import type { Random } from '../../support/random.ts';
import { collect } from '../../e2e/frames.ts';
import type { Answer, ServerProgram } from '../../e2e/programs.ts';
import type { Ledger, WatchedStream } from './ledger.ts';

export interface ClientOptions {
  readonly server: ServerProgram;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly webhookUrl: (path: string) => string;
  /** Runs of the graph `gate` end when this file exists. */
  readonly gate: string;
}

/** Resolves when the server cannot be reached any more. */
export async function beClient({ server, random, ledger, webhookUrl, gate }: ClientOptions): Promise<void> {
  const { threads, runs, streams, deletions, webhooks, problems } = ledger;

  /** Undefined for an answer other than those that are allowed here, which is a problem. */
  async function ask(allowed: readonly number[], method: string, path: string, body?: unknown) {
    const answer = await server.ask(method, path, body);
    if (allowed.includes(answer.status)) return answer;
    problems.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
    return undefined;
  }

  async function createThread(more: Record<string, number> = {}): Promise<string | undefined> {
    const metadata = { made: ledger.next(), ...more };
    const answer = await ask([200], 'POST', '/threads', { metadata });
    if (answer !== undefined) threads.set(answer.json.thread_id, metadata);
    return answer?.json.thread_id;
  }

  const someThread = async () => {
    const free = [...threads].filter(([, metadata]) => !('blocked' in metadata)).slice(-12);
    return free.length < 4 || random.chance(0.1) ? createThread() : random.pick(free)[0];
  };

  /** `isHooked`: a webhook is asked for. */
  function order(graph: string, isHooked = random.chance(0.4)) {
    const tag = `t${ledger.next()}`;
    if (isHooked) webhooks.set(`/${tag}`, undefined);
    const body = {
      assistant_id: graph,
      input: graph === 'chain' ? {} : { messages: [{ role: 'user', content: tag }] },
      config: { configurable: { count: random.int(1, 12), ...(graph === 'gate' && { gate }) } },
      stream_mode: random.pick([['values'], ['values', 'updates', 'custom']]),
      multitask_strategy: random.pick(['enqueue', 'enqueue', 'reject', 'interrupt']),
      ...(isHooked && { webhook: webhookUrl(`/${tag}`) }),
    };
    return { tag, graph, body };
  }

  /** A thread keeps to one kind of graph, whose state is its own. */
  const isForChains = (threadId: string): boolean => threads.get(threadId)!['made']! % 4 === 0;
  const quick = (threadId?: string) =>
    order(
      threadId === undefined || isForChains(threadId)
        ? 'chain'
        : random.pick(['echo', 'steps', 'steps', 'fails']),
    );

  function promise(runId: string, threadId: string, { tag, graph }: { tag: string; graph: string }): void {
    runs.set(runId, { threadId, tag, graph, rollback: false });
    if (webhooks.has(`/${tag}`)) webhooks.set(`/${tag}`, runId);
  }

  async function background(threadId?: string, asked = quick(threadId)): Promise<string | undefined> {
    const path = threadId === undefined ? '/runs' : `/threads/${threadId}/runs`;
    const answer = await ask([200, 409], 'POST', path, asked.body);
    if (answer?.status !== 200) return undefined;
    promise(answer.json.run_id, answer.json.thread_id, asked);
    return answer.json.run_id;
  }

  async function wait(threadId: string): Promise<void> {
    const asked = quick(threadId);
    const answer = await ask([200, 409], 'POST', `/threads/${threadId}/runs/wait`, asked.body);
    if (answer?.status !== 200) return;
    const runId = runIdOf(answer.headers);
    promise(runId, threadId, asked);
    runs.get(runId)!.answer = answer.json;
  }

  async function stream(threadId: string): Promise<void> {
    const asked = quick(threadId);
    const response = await server.open('POST', `/threads/${threadId}/runs/stream`, asked.body);
    if (response.status === 409) return void (await response.text());
    const runId = runIdOf(response.headers);
    promise(runId, threadId, asked);
    const watched = { path: response.headers.get('location')!, frames: [], complete: false };
    await watch(runId, watched, async () => response);
  }

  /** Noted when it is over: nobody else goes on with it meanwhile. */
  async function watch(runId: string, watched: WatchedStream, open: () => Promise<Response>): Promise<void> {
    try {
      const { broken } = await collect(await open(), (frame) => watched.frames.push(frame));
      watched.complete = !broken;
      if (broken) throw new Error('the stream broke off');
    } finally {
      streams.set(runId, watched);
    }
  }

  /** Goes on with a stream that broke off in an earlier round. */
  async function resume(): Promise<void> {
    const broken = [...streams].filter(([runId, { complete }]) => !complete && !runs.get(runId)!.rollback);
    if (broken.length === 0) return;
    const [runId, watched] = random.pick(broken);
    streams.delete(runId);
    const after = { 'last-event-id': String(watched.frames.at(-1)?.id ?? -1) };
    await watch(runId, watched, () => server.open('GET', watched.path, undefined, after));
  }

  async function cancel(): Promise<void> {
    const open = [...runs].slice(-20);
    if (open.length === 0) return;
    const [runId, run] = random.pick(open);
    const action = random.chance(0.3) ? 'rollback' : 'interrupt';
    run.rollback ||= action === 'rollback';
    await ask([202, 404], 'POST', `/threads/${run.threadId}/runs/${runId}/cancel?action=${action}`);
  }

  /** A run that stays until it is cancelled, lost too often, or the torture is over; and one that waits for it. */
  async function block(): Promise<void> {
    const threadId = await createThread({ blocked: 1 });
    if (threadId === undefined) return;
    const runId = await background(threadId, order('gate'));
    await background(threadId, order('echo'));
    if (runId !== undefined && random.chance(0.5))
      await ask([202], 'POST', `/threads/${threadId}/runs/${runId}/cancel`);
  }

  async function patch(threadId: string): Promise<void> {
    const number = ledger.next();
    const answer = await ask([200], 'PATCH', `/threads/${threadId}`, {
      metadata: { [`k${number}`]: number },
    });
    if (answer !== undefined) threads.get(threadId)![`k${number}`] = number;
  }

  async function remove(): Promise<void> {
    const answer = await ask([200], 'POST', '/threads', {});
    if (answer === undefined) return;
    const threadId = answer.json.thread_id;
    await ask([200], 'POST', `/threads/${threadId}/runs`, order('steps', false).body);
    deletions.set(threadId, false);
    if ((await ask([204], 'DELETE', `/threads/${threadId}`)) !== undefined) deletions.set(threadId, true);
  }

  async function read(): Promise<void> {
    const [threadId, promised] = random.pick([...threads]);
    const known = { ...promised };
    const answer = await ask([200], 'GET', `/threads/${threadId}`);
    problems.push(...missingIn(answer, threadId, known));
    if (runs.size === 0) return;
    const [runId, run] = random.pick([...runs]);
    await ask(run.rollback ? [200, 404] : [200], 'GET', `/threads/${run.threadId}/runs/${runId}`);
  }

  const actions: readonly (() => Promise<unknown>)[] = [
    () => createThread(),
    () => background(),
    resume,
    resume,
    cancel,
    block,
    remove,
    read,
    ...[background, background, wait, wait, stream, stream, stream, patch].map((act) => async () => {
      const threadId = await someThread();
      if (threadId !== undefined) await act(threadId);
    }),
  ];
  try {
    if (threads.size === 0) await createThread();
    for (;;) await random.pick(actions)();
  } catch (error) {
    if (!isGone(error)) problems.push(`a client failed: ${String(error)}`);
  }
}

const runIdOf = (headers: Headers): string => headers.get('content-location')!.split('/').at(-1)!;

const missingIn = (
  answer: Answer | undefined,
  threadId: string,
  promised: Record<string, number>,
): string[] =>
  Object.entries(promised)
    .filter(([key, value]) => answer !== undefined && answer.json.metadata[key] !== value)
    .map(([key]) => `thread ${threadId} lost metadata ${key}`);

const isGone = (error: unknown): boolean =>
  error instanceof Error && /fetch failed|terminated|broke off/.test(error.message);
