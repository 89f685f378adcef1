/**
 * A client that sends every request with a key, again and again until it has heard the answer, whatever happens to the
 * server meanwhile (L4): of each there is one run, and what it says next builds on what it was told.
 */
import type { Random } from '../../support/random.ts';
import type { Answer, ServerProgram } from '../../e2e/programs.ts';
import type { Ledger } from './ledger.ts';

export interface InsisterOptions {
  readonly name: string;
  readonly random: Random;
  readonly ledger: Ledger;
  /** Runs of the graph `gate` end when this file exists. */
  readonly gate: string;
}

export interface Insister {
  /** Another server is there. */
  use(server: ServerProgram): void;
  /** Comes to the end of what it is about, on the last server, whose gate is open. */
  finish(): Promise<void>;
  /** How many requests had to be sent more than once, and how many conversations came to their end. */
  figures(): { repeated: number; talks: number };
}

interface Heard {
  readonly path: string;
  readonly tag: string;
  readonly body: object;
  readonly runId: string;
}

export function openInsister({ name, random, ledger, gate }: InsisterOptions): Insister {
  const { once, problems } = ledger;
  let server: ServerProgram | undefined;
  let arrived: () => void = () => undefined;
  let finishing = false;
  let repeated = 0;
  let talks = 0;
  const heard: Heard[] = [];

  /** Asks until there is an answer. */
  async function insist(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      while (server === undefined) await new Promise<void>((resolve) => (arrived = resolve));
      const asked = server;
      if (tries > 1) repeated += 1;
      try {
        return await asked.ask(method, path, body, key === undefined ? {} : { 'idempotency-key': key });
      } catch (error) {
        if (!/fetch failed|terminated/.test(String(error))) throw error;
        if (server === asked) server = undefined;
      }
    }
  }

  /** A run of this graph, once; `path` says whether it is waited for. */
  async function run(path: string, graph: string, more: object = {}) {
    const tag = `${name}-${ledger.next()}`;
    const body = {
      assistant_id: graph,
      metadata: { tag },
      config: { configurable: graph === 'gate' ? { gate } : {} },
      ...('command' in more ? {} : { input: { messages: [{ role: 'user', content: tag }] } }),
      ...more,
    };
    once.set(tag, undefined);
    const { status, json, headers } = await insist('POST', path, body, tag);
    if (status !== 200) throw new Error(`${path} for ${graph}: ${status} ${JSON.stringify(json)}`);
    const runId = headers.get('content-location')!.split('/').at(-1)!;
    once.set(tag, runId);
    if (!path.endsWith('/wait')) heard.push({ path, tag, body, runId });
    return { tag, runId, json };
  }

  async function newThread(): Promise<string> {
    const { json } = await insist('POST', '/threads', {});
    return `/threads/${json.thread_id}/runs`;
  }

  const textsOf = (json: { messages?: { content: unknown }[] }): unknown[] =>
    json.messages?.map(({ content }) => content) ?? [];
  /** It was lost with its server once too often, which is an end that it may have. */
  const isLost = (json: Answer['json']): boolean => json.__error__?.error === 'AttemptsExceeded';

  function expect(what: string, found: readonly unknown[], wanted: readonly unknown[]): void {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      problems.push(`${what}: saw ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
  }

  /** A question of the graph, and its answer, which comes through once. */
  async function answer(): Promise<void> {
    const path = await newThread();
    const graph = random.pick(['asks', 'approve']);
    const question = await run(`${path}/wait`, graph);
    if (isLost(question.json)) return;
    if (question.json.__interrupt__?.length !== 1)
      return void problems.push(`${path}: no question in ${JSON.stringify(question.json)}`);
    const reply = `yes-${ledger.next()}`;
    const { json } = await run(`${path}/wait`, graph, { command: { resume: reply } });
    if (isLost(json)) return;
    const said = graph === 'asks' ? `answered: "${reply}"` : `The answer was "${reply}"`;
    expect(`${path} (${graph})`, textsOf(json), [question.tag, said]);
  }

  /** A run that takes the place of one that would not end. */
  async function supersede(): Promise<void> {
    const path = await newThread();
    const base = await run(`${path}/wait`, 'echo');
    const stuck = await run(path, 'gate');
    const strategy = random.pick(['rollback', 'interrupt']);
    const next = await run(`${path}/wait`, 'echo', { multitask_strategy: strategy });
    const left = await insist('GET', `${path}/${stuck.runId}`);
    // With the gate open it may have ended by itself; and it may have been lost too often before.
    const status = left.status === 404 ? 'gone' : String(left.json.status);
    const wanted = strategy === 'rollback' ? 'gone' : 'interrupted';
    if (status !== wanted && status !== 'error' && !(finishing && status === 'success'))
      problems.push(`${path}/${stuck.runId}: ${status} after ${strategy}`);
    if (isLost(base.json) || isLost(next.json)) return;
    const texts = textsOf(next.json);
    const before = [base.tag, `echo: ${base.tag}`];
    expect(`${path} before ${strategy}`, texts.slice(0, 2), before);
    expect(`${path} after ${strategy}`, texts.slice(-2), [next.tag, `echo: ${next.tag}`]);
    if (status === 'gone') expect(`${path} with ${strategy}`, texts.slice(2, -2), []);
    // Its input stays if it had been saved, and no more.
    if (status === 'interrupted' && texts.length > 4)
      expect(`${path} with ${strategy}`, texts.slice(2, -2), [stuck.tag]);
  }

  /** Runs that nobody waits for, on threads of their own; and requests that were heard, once more. */
  async function repeat(): Promise<void> {
    await run('/runs', 'steps', { on_completion: 'keep' });
    const { path, body, tag, runId } = random.pick(heard);
    const { status, json } = await insist('POST', path, body, tag);
    const isGone = status === 404 && path !== '/runs';
    if (!isGone && json.run_id !== runId)
      problems.push(`${tag} was ${runId}, then ${status} ${JSON.stringify(json).slice(0, 200)}`);
  }

  async function talk(): Promise<void> {
    while (!finishing) {
      await random.pick([answer, supersede, repeat])();
      talks += 1;
    }
  }

  const done = talk().catch((error: unknown) => {
    problems.push(`${name} failed: ${String(error)}`);
  });

  return {
    use(next) {
      server = next;
      arrived();
    },
    async finish() {
      finishing = true;
      await done;
    },
    figures: () => ({ repeated, talks }),
  };
}
