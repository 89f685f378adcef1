import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { GRACE_MS, withProject } from './dev-project.ts';
import { collect } from './frames.ts';
import { marksOf, reached } from './marks.ts';
import { createRun, createThread, framesOf, joinRun } from './runs.ts';

const test = suite('dev');

const GRAPHS = JSON.stringify({ graphs: { agent: './agent.ts:agent' } });
const answers = (text: string): string => `
import { text } from './words.ts';
import { existsSync, appendFileSync } from 'node:fs';
export async function agent(state: object, { configurable: { gate, marks } }: any) {
  if (marks) appendFileSync(marks, 'begun\\n');
  if (marks) process.once('exit', () => appendFileSync(marks, 'gone\\n'));
  while (gate && !existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
  return { said: text + ${JSON.stringify(text)} };
}`;

test('a saved file is used by the next run; the old code goes once its last run has ended with it', () =>
  withProject(
    { 'platform.json': GRAPHS, 'agent.ts': answers('one'), 'words.ts': `export const text = 'a ';` },
    async ({ dir, server, write, says }) => {
      // given a run that waits inside the old code
      const [gate, marks] = [join(dir, '../gate'), join(dir, '../marks')];
      const thread = await createThread(server);
      const run = await createRun(server, thread, {
        ...{ assistant_id: 'agent', input: {}, config: { configurable: { gate, marks } } },
      });
      await reached(marks, 'begun');

      // when a file that the graph imports is saved
      write('words.ts', `export const text = 'b ';`);
      await says(/words\.ts changed, reloading …\n.*graphs reloaded/);

      // then new runs use the new code and the old run ends with the old one
      const body = { assistant_id: 'agent', input: {} };
      assert.equal((await server.ask('POST', '/runs/wait', body)).json.said, 'b one');
      assert.deepEqual(marksOf(marks), ['begun']);
      writeFileSync(gate, '');
      assert.equal((await joinRun(server, thread, run)).said, 'a one');
      await reached(marks, 'gone');
    },
  ));

test('a graph that does not load answers with its error, is mended by a save, and its thread goes on', () =>
  withProject(
    { 'platform.json': GRAPHS, 'agent.ts': answers('one'), 'words.ts': `export const text = '';` },
    async ({ server, write, says }) => {
      const thread = await createThread(server);
      const ask = (input: object | null) =>
        server.ask('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'agent', input });

      // a syntax error is printed with its place, and is the answer of the graph
      write('agent.ts', 'export const agent = () => ({ said: };');
      await says(/reload failed after \d+ ms, .*: agent\n.*graph "agent" \(.*agent\.ts:1:\d+: /);
      assert.match(JSON.stringify((await ask({})).json), /GraphNotLoaded.*did not load.*agent\.ts:1:/);

      // code that throws is printed with its line
      write(
        'agent.ts',
        'export const agent = (state: object, config: object) => {\n  throw new Error("no key");\n};',
      );
      await says(/graphs reloaded/);
      await ask({ topic: 'x' });
      await says(/Error: no key\n {4}at .*agent\.ts:2:9\n(?:.*\n)+? {4}> 2 \|   throw new Error/);
      assert.equal((await server.ask('GET', `/threads/${thread}`)).json.status, 'error');

      // and the thread goes on after the mend
      write('agent.ts', answers('two'));
      await says(/graphs reloaded/);
      assert.deepEqual((await ask(null)).json, { topic: 'x', said: 'two' });
    },
  ));

test('a graph that imports a missing file is named with its line and served once the file is there', () =>
  withProject(
    {
      'platform.json': GRAPHS,
      'agent.ts': `const one = 1;\nexport const agent = (state: object, config: object) => ({ said: text });
        import { text } from './words.ts';`,
    },
    async ({ server, write, says }) => {
      assert.match(server.output(), /agent\.ts:3:30: .*words\.ts[^]*> 3 \|         import \{ text \}/);
      write('words.ts', `export const text = 'there';`);
      await says(/words\.ts changed, reloading …\n.*graphs reloaded/);
      const body = { assistant_id: 'agent', input: {} };
      assert.equal((await server.ask('POST', '/runs/wait', body)).json.said, 'there');
    },
  ));

test('a run that comes after a save waits for the new code; a load that hangs ends with the next save', () =>
  withProject(
    { 'platform.json': GRAPHS, 'agent.ts': answers('one'), 'words.ts': `export const text = 'a ';` },
    async ({ dir, server, write, says }) => {
      // given a save whose load waits for a gate
      const gate = JSON.stringify(join(dir, '../gate'));
      const slowly = `import { existsSync } from 'node:fs';
        while (!existsSync(${gate})) await new Promise((resolve) => setTimeout(resolve, 5));`;
      const ask = async () =>
        (await server.ask('POST', '/runs/wait', { assistant_id: 'agent', input: {} })).json.said;
      write('words.ts', `${slowly}\nexport const text = 'b ';`);
      await says(/words\.ts changed, reloading …/);

      // when a run is created meanwhile
      const early = ask();
      writeFileSync(join(dir, '../gate'), '');

      // then it has the new code
      assert.equal(await early, 'b one');

      // and given a load that never ends, the next save replaces it
      write('words.ts', 'await new Promise((resolve) => setInterval(resolve, 1e9));');
      await says(/words\.ts changed, reloading …/);
      const waiting = ask();
      write('words.ts', `export const text = 'c ';`);
      assert.equal(await waiting, 'c one');
    },
  ));

test('a changed env file restarts the server, which hands its runs back, and streams resume by id', () =>
  withProject(
    {
      'platform.json': JSON.stringify({
        ...{ graphs: { agent: './agent.ts:agent' }, env: '.env', auth: { path: './auth.ts:auth' } },
      }),
      '.env': 'WORD=one',
      'auth.ts': `import { Auth } from 'rewound/auth';
        import { name } from './name.ts';
        export const auth = new Auth().authenticate(() => ({ identity: name }));`,
      'name.ts': `export const name = 'alice';`,
      'agent.ts': `import { existsSync, appendFileSync } from 'node:fs';
        export async function* agent(state: object, { configurable, signal }: any) {
          yield { first: process.env.WORD };
          appendFileSync(configurable.marks, 'begun\\n');
          while (!existsSync(configurable.gate)) {
            signal.throwIfAborted();
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          yield { second: process.env.WORD, user: configurable.langgraph_auth_user.identity };
        }`,
    },
    async ({ dir, server, write, says }) => {
      const [gate, marks] = [join(dir, '../gate'), join(dir, '../marks')];
      const thread = await createThread(server);
      const run = await createRun(server, thread, {
        ...{ assistant_id: 'agent', input: {}, config: { configurable: { gate, marks } } },
        ...{ stream_mode: ['updates'], stream_resumable: true },
      });
      const live = collect(await server.open('GET', `/threads/${thread}/runs/${run}/stream`));
      await reached(marks, 'begun');

      write('.env', 'WORD=two');
      const said = await says(/restarted in \d+ ms/);
      assert.ok(Number(/\d+/.exec(said)![0]) < GRACE_MS, said);
      const { frames: before } = await live;
      await reached(marks, 'begun', 2);

      // a module that the auth handler imports
      write('name.ts', `export const name = 'bob';`);
      await says(/name\.ts changed: the server restarts[^]*restarted in/);

      writeFileSync(gate, '');
      const values = await joinRun(server, thread, run);
      assert.deepEqual([values['first'], values['second'], values['user']], ['one', 'two', 'alice']);
      const config = { configurable: { gate, marks } };
      const next = await server.ask('POST', '/runs/wait', { assistant_id: 'agent', input: {}, config });
      assert.deepEqual(next.json, { first: 'two', second: 'two', user: 'bob' });
      const all = await framesOf(server, thread, run);
      const last = before.at(-1)?.id;
      const rest = collect(
        await server.open('GET', `/threads/${thread}/runs/${run}/stream`, undefined, {
          'last-event-id': String(last ?? -1),
        }),
      );
      assert.deepEqual([...before, ...(await rest).frames], all);
      assert.equal(marksOf(marks).length, 4);
    },
  ));

test('a fault of an auth handler shows its lines and no frames of the server', () =>
  withProject(
    {
      'platform.json': JSON.stringify({
        ...{ graphs: { agent: './agent.ts:agent' }, auth: { path: './auth.ts:auth' } },
      }),
      'auth.ts': `import { Auth } from 'rewound/auth';
const teamOf = (user: any) => user.team.name;
export const auth = new Auth()
  .authenticate(() => ({ identity: 'alice' }))
  .on('threads:create', ({ user }) => ({ team: teamOf(user) }))
  .on('threads:search', () => 7 as never);`,
      'agent.ts': 'export const agent = () => ({});',
    },
    async ({ server, says }) => {
      assert.equal((await server.ask('POST', '/threads', {})).status, 500);
      const block = await says(
        /fault context="auth: threads:create"\n {4}TypeError: Cannot read.*\n {4}at .*auth\.ts:2:\d+\n(?:.*\n)+? {4}> 2 \|.*\n.*\^/,
      );
      assert.doesNotMatch(block, / at .*authorize/);
      assert.equal((await server.ask('POST', '/threads/search', {})).status, 500);
      await says(
        /fault context="auth: threads:search"\n {4}ToldFault: Auth handler returned invalid result\..*\n/,
      );
      assert.doesNotMatch(server.output(), / at .*src\/auth|chunk-/);
    },
  ));

test('a loop that blocks its thread is printed with its line while it runs', () =>
  withProject(
    {
      'platform.json': GRAPHS,
      'agent.ts': `import { existsSync } from 'node:fs';
interface Options { configurable: { gate: string } }

export const agent = (state: object, { configurable: { gate } }: Options) => {
  while (!existsSync(gate)) continue;
  return { said: 'x' };
};`,
    },
    async ({ dir, server, says }) => {
      const gate = join(dir, '../gate');
      const run = server.ask('POST', '/runs/wait', {
        ...{ assistant_id: 'agent', input: {}, config: { configurable: { gate } } },
      });
      await says(/agent\.ts:5:\d+ has blocked its thread for 5 s/);
      writeFileSync(gate, '');
      assert.deepEqual((await run).json, { said: 'x' });
    },
  ));

test('a run that succeeds is one short line, and what its code prints carries the run', () =>
  withProject(
    {
      'platform.json': GRAPHS,
      'agent.ts': `export const agent = () => { console.log('first\\nsecond'); return { said: 'x' }; };`,
    },
    async ({ server }) => {
      // when a run prints two lines
      const thread = await createThread(server);
      const { run_id: runId } = (
        await server.ask('POST', `/threads/${thread}/runs`, { assistant_id: 'agent', input: {} })
      ).json;
      const short = runId.slice(0, 13);
      // then both name it, and its end is one line without long ids
      await server.printed(new RegExp(`^agent ${short} \\| first\nagent ${short} \\| second$`, 'm'));
      const [line] = await server.printed(new RegExp(`^.*✓ agent ${short}  1 step, [\\d.]+ m?s$`, 'm'));
      assert.ok(!line.includes(runId) && !line.includes(thread));
    },
  ));

test.run();
