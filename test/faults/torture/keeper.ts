/**
 * A client that changes things of its own, one change after the other, and knows what each must look like: as after the
 * last change that was acknowledged, or as after the one that was under way when the server was killed. Nothing between.
 */
import type { Random } from '../../support/random.ts';
import type { ServerProgram } from '../../e2e/programs.ts';
import { openStory, type Story } from './story.ts';

/** What may be seen of a thing; undefined when it is gone. */
type Sight = string | undefined;

interface Thing {
  readonly path: string;
  /** What was acknowledged. */
  known: Sight;
  /** What may have become of it instead. */
  maybe: { readonly sight: Sight } | undefined;
}

export interface Keeper {
  /** Resolves when the server cannot be reached any more. */
  work(server: ServerProgram, random: Random): Promise<void>;
  /** Looks at everything; call it when nobody changes anything. */
  inspect(server: ServerProgram): Promise<void>;
  /** Texts that were in things that are gone by now. */
  readonly erased: ReadonlySet<string>;
  /** How many were acknowledged. */
  changes(): number;
  /** The same, by kind. */
  readonly done: Readonly<Record<string, number>>;
}

const GRAPH = 'echo';
const MAX_THINGS = 5;
const MAX_TRIES = 5;

export function openKeeper(name: string, problems: string[]): Keeper {
  const threads: Thing[] = [];
  const assistants: Thing[] = [];
  const items: Thing[] = [];
  const runs: Thing[] = [];
  const erased = new Set<string>();
  /** Texts that more than one thing may hold. */
  const shared = new Set<string>();
  const done: Record<string, number> = {};
  let last = 0;
  let told: string | undefined;
  let story: Story | undefined;
  const next = (): string => `${name}-${++last}-kept`;

  /** Undefined for a 404, which is an answer here. On a loaded machine no worker may answer in time: nothing was done. */
  async function ask(
    server: ServerProgram,
    method: string,
    path: string,
    body?: unknown,
    tries = MAX_TRIES,
  ): Promise<any> {
    const { status, json } = await server.ask(method, path, body);
    if (status === 503 && tries > 1) return ask(server, method, path, body, tries - 1);
    if (status === 404) return undefined;
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  const looks: readonly [Thing[], (server: ServerProgram, path: string) => Promise<Sight>][] = [
    [threads, lookAtThread],
    [
      assistants,
      async (server, path) => {
        const found = await ask(server, 'GET', path);
        if (found === undefined) return undefined;
        const versions = await ask(server, 'POST', `${path}/versions`, { limit: 1000 });
        const [newest] = versions as { version: number }[];
        if (newest?.version !== found.version || versions.length !== found.version)
          problems.push(`${path}: version ${found.version} among ${versions.length}`);
        return found.metadata.tag;
      },
    ],
    [items, async (server, path) => (await ask(server, 'GET', path))?.value.tag],
    [runs, async (server, path) => (await ask(server, 'GET', path))?.metadata.tag],
  ];

  /** Its state, which has to be the end of its history, each of whose steps has what was said until then. */
  async function lookAtThread(server: ServerProgram, path: string): Promise<Sight> {
    const state = await ask(server, 'GET', `${path}/state`);
    if (state === undefined) return undefined;
    const history = await ask(server, 'POST', `${path}/history`, { limit: 1000 });
    const said = (values: { tags?: string[] }): string => (values.tags ?? []).join();
    const [newest] = history as { values: { tags?: string[] } }[];
    if (newest === undefined || said(newest.values) !== said(state.values))
      problems.push(`${path}: its history ends otherwise than its state`);
    for (const { values } of history)
      if (!said(state.values).startsWith(said(values))) problems.push(`${path}: its history has other words`);
    return said(state.values);
  }

  /** Notes what is asked for before it is, and that it came true after. */
  async function change(thing: Thing, sight: Sight, act: () => Promise<unknown>): Promise<void> {
    thing.maybe = { sight };
    await act();
    settle(thing, sight);
  }

  function settle(thing: Thing, sight: Sight): void {
    if (sight === undefined && thing.known !== undefined)
      for (const text of thing.known.split(',')) if (!shared.has(text)) erased.add(text);
    thing.known = sight;
    thing.maybe = undefined;
  }

  async function inspect(server: ServerProgram): Promise<void> {
    for (const [things, look] of looks)
      for (const thing of things) {
        const { path, known, maybe } = thing;
        const sight = await look(server, path);
        if (sight !== known && (maybe === undefined || sight !== maybe.sight))
          problems.push(`${path}: saw ${sight}, expected ${known}${maybe ? ` or ${maybe.sight}` : ''}`);
        settle(thing, sight);
      }
    const runsTold = told === undefined ? undefined : await ask(server, 'GET', `${told}/runs?limit=1000`);
    if (runsTold === undefined) return;
    story ??= openStory(told!, problems);
    await story.read(server, runsTold.length);
  }

  async function work(server: ServerProgram, random: Random): Promise<void> {
    const some = (things: Thing[]): Thing | undefined => {
      const living = things.filter(({ known }) => known !== undefined);
      return living.length === 0 ? undefined : random.pick(living);
    };
    const crowded = (things: Thing[]): boolean =>
      things.filter(({ known }) => known !== undefined).length >= MAX_THINGS;
    const add = (things: Thing[], path: string): Thing => {
      const thing: Thing = { path, known: undefined, maybe: undefined };
      things.push(thing);
      return thing;
    };
    const send = (method: string, path: string, body?: unknown) => ask(server, method, path, body);

    const ACTIONS: Record<string, () => Promise<unknown>> = {
      async create() {
        if (crowded(threads)) return;
        const [id, tags] = [uuid(random), [next(), next()]];
        await change(add(threads, `/threads/${id}`), tags.join(), () =>
          send('POST', '/threads', {
            thread_id: id,
            metadata: { graph_id: GRAPH },
            supersteps: tags.map((_, i) => ({
              updates: [{ as_node: GRAPH, values: { tags: tags.slice(0, i + 1) } }],
            })),
          }),
        );
      },
      async update() {
        const thread = some(threads);
        if (thread === undefined) return;
        const tags = [...thread.known!.split(','), next()];
        await change(thread, tags.join(), () =>
          send('POST', `${thread.path}/state`, { as_node: GRAPH, values: { tags } }),
        );
      },
      /** Its id is known only when it was acknowledged. */
      async copy() {
        const thread = some(threads);
        if (thread === undefined || crowded(threads)) return;
        for (const text of thread.known!.split(',')) shared.add(text);
        const { thread_id: id } = await send('POST', `${thread.path}/copy`);
        add(threads, `/threads/${id}`).known = thread.known;
      },
      async prune() {
        const thread = some(threads);
        if (thread === undefined) return;
        const ids = [thread.path.split('/')[2]];
        const kept = random.chance(0.7);
        await change(thread, kept ? thread.known : undefined, () =>
          send('POST', '/threads/prune', { thread_ids: ids, strategy: kept ? 'keep_latest' : 'delete' }),
        );
      },
      async removeThread() {
        const thread = some(threads);
        if (thread === undefined) return;
        await change(thread, undefined, () => send('DELETE', thread.path));
      },
      /** By command, and read as events to its end. */
      async run() {
        if (crowded(runs)) return;
        const [id, tag] = [uuid(random), next()];
        // A thread that is made for its run gets what is known of the run, and keeps it.
        await send('POST', '/threads', { thread_id: id });
        const params = { assistant_id: GRAPH, input: { said: tag }, metadata: { tag } };
        const answer = await send('POST', `/threads/${id}/commands`, { id: 1, method: 'run.start', params });
        const path = `/threads/${id}/runs/${answer.result.run_id}`;
        add(runs, path).known = tag;
        await send('GET', `${path}/join`);
      },
      /** A run on the one thread whose events are read. */
      async tell() {
        told ??= `/threads/${uuid(random)}`;
        const params = { assistant_id: GRAPH, input: { said: next() } };
        await send('POST', `${told}/commands`, { id: 1, method: 'run.start', params });
      },
      async removeRun() {
        const run = some(runs);
        if (run !== undefined) await change(run, undefined, () => send('DELETE', run.path));
      },
      async makeAssistant() {
        if (crowded(assistants)) return;
        const [id, tag] = [uuid(random), next()];
        await change(add(assistants, `/assistants/${id}`), tag, () =>
          send('POST', '/assistants', { assistant_id: id, graph_id: GRAPH, metadata: { tag } }),
        );
      },
      async patchAssistant() {
        const assistant = some(assistants);
        if (assistant === undefined) return;
        const tag = next();
        await change(assistant, tag, () => send('PATCH', assistant.path, { metadata: { tag } }));
      },
      async removeAssistant() {
        const assistant = some(assistants);
        if (assistant === undefined || random.chance(0.5)) return;
        await change(assistant, undefined, () => send('DELETE', `${assistant.path}?delete_threads=true`));
      },
      async put() {
        const known = some(items);
        const item =
          known === undefined || (random.chance(0.5) && !crowded(items))
            ? add(items, `/store/items?namespace=kept.${name}&key=${uuid(random)}`)
            : known;
        const tag = next();
        const key = item.path.split('key=')[1];
        const ttl = random.chance(0.5) ? 10_000 : null;
        await change(item, tag, () =>
          send('PUT', '/store/items', { namespace: ['kept', name], key, value: { tag }, ttl }),
        );
      },
      async removeItem() {
        const item = some(items);
        if (item !== undefined) await change(item, undefined, () => send('DELETE', item.path));
      },
    };
    try {
      for (;;) {
        const [action, act] = random.pick(Object.entries(ACTIONS));
        await act();
        done[action] = (done[action] ?? 0) + 1;
      }
    } catch (error) {
      if (!/fetch failed|terminated/.test((error as Error).message))
        problems.push(`keeper ${name} failed: ${String((error as Error).stack)}`);
    }
  }

  const changes = (): number => Object.values(done).reduce((sum, n) => sum + n, 0);
  return { work, inspect, erased, done, changes };
}

function uuid(random: Random): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
