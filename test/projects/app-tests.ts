/** What stands around a graph in a project: loggers, HTTP applications, auth, layouts, keys of the configuration. */
import assert from 'node:assert/strict';
import { Client } from '@langchain/langgraph-sdk';
import type { suite } from '../support/suite.ts';
import { withProject, type StartedProject } from './compare.ts';
import { CURRENT_LINES, extentOf, type Extent, type Line } from './lines.ts';

const client = ({ server }: StartedProject, headers: Record<string, string> = {}): Client =>
  new Client({ apiUrl: server().url, apiKey: null, defaultHeaders: headers });

interface App {
  readonly project: string;
  /** How the title goes on. */
  readonly what: string;
  readonly use: (started: StartedProject) => Promise<void>;
  readonly lines: readonly Line[];
}

const app = (
  project: string,
  what: string,
  use: App['use'],
  lines: readonly Line[] = CURRENT_LINES,
): App => ({ project, what, use, lines });

/** A test for each project and line. */
export function addAppTests(test: ReturnType<typeof suite>, extent: Extent): void {
  for (const { project, what, use, lines } of APPS)
    for (const line of lines.filter((each) => extentOf(each) === extent))
      test(`${project} ${what} on line ${line}`, () => withProject(line, project, use));
}

const APPS: readonly App[] = [
  app(
    'transformers',
    'shows the channel of its transformer to clients',
    async (started) => {
      const { threads } = client(started);
      const stream = threads.stream({ assistantId: 'counted' });
      const counts: unknown[] = [];
      const reading = (async () => {
        for await (const count of (stream.extensions as any).counts) counts.push(count);
      })();
      await stream.run.start({ input: { log: [] } });
      await reading;
      assert.deepEqual(counts, [{ updates: 1 }, { updates: 2 }]);
      await stream.close();
    },
    ['1.7'],
  ),

  app('logger', 'starts with a logger at module level, whose lines are printed', async (started) => {
    const { runs } = client(started);
    assert.deepEqual(await runs.wait(null, 'logged', { input: {} }), { done: true });
    assert.equal((await started.server().ask('GET', '/logged')).status, 200);
    for (const line of [/the module is loaded/, /working \{ node: 'work' \}/, /still working/, /asked for/])
      await started.server().printed(line);
  }),

  app('hono-app', 'has its routes and middleware around those of the server', async (started) => {
    const { ask } = started.server();
    const hello = await ask('GET', '/hello/ada');
    assert.deepEqual(
      [hello.status, hello.json, hello.headers.get('x-took')],
      [200, { hello: 'ada' }, 'true'],
    );
    assert.deepEqual((await ask('POST', '/sum', [1, 2, 3])).json, { sum: 6 });
    assert.equal((await ask('GET', '/broken')).status, 500);
    assert.equal((await ask('GET', '/info')).headers.get('x-took'), 'true');
    const tenant = client(started, { 'x-tenant': 'acme' });
    const { thread_id: id } = await tenant.threads.create();
    // The middleware changes the parsed body in place.
    const values: any = await tenant.runs.wait(id, 'echo', { input: { said: 'hello' } });
    assert.deepEqual(values, { said: 'echo: HELLO', by: 'acme' });
    const preflight = await ask('OPTIONS', '/threads', undefined, {
      origin: 'https://example.org',
      'access-control-request-method': 'POST',
    });
    assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://example.org');
  }),

  app('bearer-auth', 'keeps its users apart', async (started) => {
    const { ask } = started.server();
    assert.equal((await ask('POST', '/threads', {})).status, 401);
    assert.equal((await ask('POST', '/threads', {}, { authorization: 'Bearer nonsense' })).status, 401);
    const ada = client(started, { authorization: 'Bearer token-of-ada' });
    const bob = client(started, { authorization: 'Bearer token-of-bob' });
    const { thread_id: id } = await ada.threads.create();
    const values: any = await ada.runs.wait(id, 'whoami', { input: {} });
    assert.deepEqual(values, { name: 'ada', token: 'token-of-ada'.length });
    const chunks: any[] = [];
    for await (const chunk of ada.runs.stream(id, 'whoami', { input: {}, streamMode: 'debug' }))
      chunks.push(chunk);
    assert.ok(chunks.length > 3);
    assert.ok(!JSON.stringify(chunks).includes('token-of-ada'));
    await assert.rejects(bob.threads.get(id), /404/);
    await assert.rejects(bob.runs.wait(id, 'whoami', { input: {} }), /404/);
    assert.deepEqual(await bob.threads.search(), []);
    assert.equal((await ada.threads.search()).length, 1);
    await assert.rejects(ada.threads.delete(id), /403/);
    await ada.store.putItem(['notes'], 'a', { text: 'mine' });
    assert.equal(((await ada.store.getItem(['notes'], 'a')) as any).value.text, 'mine');
    assert.equal(await bob.store.getItem(['notes'], 'a').catch(() => null), null);
    await started.again();
    assert.equal(
      (await client(started, { authorization: 'Bearer token-of-ada' }).threads.search()).length,
      1,
    );
  }),

  app('monorepo', 'imports its own packages through the paths of its tsconfig', async (started) => {
    const { runs, assistants } = client(started);
    const values = await runs.wait(null, 'polite', { input: { phrase: 'sit down' } });
    assert.deepEqual(values, { phrase: 'PLEASE SIT DOWN', tone: 'calm' });
    const [assistant] = await assistants.search({ graphId: 'polite' });
    const schemas: any = await assistants.getSchemas(assistant!.assistant_id);
    assert.deepEqual(Object.keys(schemas.state_schema.properties).sort(), ['phrase', 'tone']);
  }),

  app('commonjs', 'runs what it requires', async (started) => {
    const { runs } = client(started);
    const values: any = await runs.wait(null, 'old', { input: {} });
    assert.deepEqual(values.doubled, [2, 4]);
    assert.deepEqual(await runs.wait(null, 'typed', { input: { n: 1 } }), { n: 2 });
  }),

  app(
    'plain-functions',
    'needs no library',
    async (started) => {
      const { runs, threads } = client(started);
      const { thread_id: id } = await threads.create();
      const input = { messages: [{ role: 'user', content: 'hi' }] };
      await runs.wait(id, 'echo', { input });
      const values: any = await runs.wait(id, 'echo', { input });
      assert.deepEqual(
        values.messages.map(({ content }: any) => content),
        ['hi', 'You said: hi', 'hi', 'You said: hi'],
      );
      assert.equal(values.turns, 2);
      const words: unknown[] = [];
      for await (const { event, data } of runs.stream(null, 'words', {
        input: { text: 'a b' },
        streamMode: 'custom',
      }))
        if (event === 'custom') words.push(data);
      assert.deepEqual(words, [{ word: 'a' }, { word: 'b' }]);
      const { thread_id: asked } = await threads.create();
      await runs.wait(asked, 'asks', { input: { what: 'sing' } });
      assert.deepEqual((await threads.getState(asked)).tasks[0]!.interrupts[0]!.value, {
        question: 'May I sing?',
      });
      await started.again();
      const answered = client(started).runs.wait(asked, 'asks', { command: { resume: 'yes' } });
      assert.deepEqual(await answered, { what: 'sing', answer: 'yes' });
    },
    ['1.7'],
  ),

  app('every-key', 'starts with every key that a configuration may have', async (started) => {
    const { ask, url } = started.server();
    assert.match(url, /\/api$/);
    assert.equal((await ask('POST', '/threads', {})).status, 401);
    const team = { 'x-team': 'red', 'x-color': 'blue', 'x-secret': 'no', 'x-other': 'no' };
    const { runs, store, assistants } = client(started, team);
    const values: any = await runs.wait(null, 'agent', { input: {} });
    assert.deepEqual(values.seen, { env: 'read', color: 'blue', other: null, user: 'red' });
    const mine = await ask('GET', '/mine', undefined, team);
    assert.deepEqual([mine.status, mine.json, mine.headers.get('x-mine')], [200, { mine: true }, 'yes']);
    assert.equal((await ask('GET', '/mine')).status, 401);
    await store.putItem(['fruit'], 'a', { text: 'apple' });
    await store.putItem(['fruit'], 'b', { text: 'pear' });
    const { items } = await store.searchItems(['fruit'], { query: 'a pear, please' });
    assert.deepEqual(
      items.map(({ key }) => key),
      ['b', 'a'],
    );
    const [assistant] = await assistants.search();
    assert.equal(assistant!.description, 'The only one');
    const document: any = (await ask('GET', '/openapi.json', undefined, team)).json;
    assert.ok(document.components.securitySchemes.ApiKey);
  }),
];
