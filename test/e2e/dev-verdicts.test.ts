/** Each save is tried against the last runs of its graphs. */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withProject, type Project } from './dev-project.ts';
import { withModelServer } from './model-server.ts';
import type { ServerProgram } from './programs.ts';

const test = suite('dev, verdicts on saves');

const MANIFEST = JSON.stringify({ graphs: { asks: './asks.ts:graph', adds: './adds.ts:graph' } });
const graph = (node: string): string => `
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { greet } from './words.ts';
const State = Annotation.Root({ asked: Annotation<string>(), said: Annotation<string>(), kept: Annotation<string>() });
export const graph = new StateGraph(State)
  .addNode('ask', ${node})
  .addNode('finish', ({ said }) => ({ kept: greet(said) }))
  .addEdge(START, 'ask').addEdge('ask', 'finish').compile();`;
const asking = (body = '{ asked }'): string =>
  graph(`async ({ asked }) => {
    const answer = await fetch(process.env.MODEL_URL!, { method: 'POST', body: JSON.stringify(${body}) });
    return { said: (await answer.json()).text };
  }`);
const words = (text: string): string => `export const greet = (said: string) => ${text};`;
const FILES = {
  'platform.json': MANIFEST,
  'asks.ts': asking(),
  'words.ts': words('`done ${said}`'),
  'adds.ts': `import { connect } from 'node:net';
export const graph = ({ sum = 0, port }: any) => {
  if (port) connect(port).on('error', () => undefined).destroy();
  return { sum: sum + 1 };
};`,
};

const run = (server: ServerProgram, assistant_id: string, input: object) =>
  server.ask('POST', '/runs/wait', { assistant_id, input, on_completion: 'keep' } as any);

const withSaves = (use: (project: Project, requests: () => number) => Promise<void>): Promise<void> =>
  withModelServer(({ url, requests }) =>
    withProject(FILES, (project) => use(project, requests), { MODEL_URL: url }, { withPackages: true }),
  );

test('a save is tried against the last run of each graph that it belongs to, and the verdict names what it changed', () =>
  withSaves(async ({ dir, server, write, says }, requests) => {
    assert.match(server.output(), /^Recording {5}on: each save is tried/m);
    const [asked] = [await run(server, 'asks', { asked: 'hello' }), await run(server, 'adds', {})];
    assert.equal(asked.json.kept, 'done answer 1');

    // an equal one
    write('words.ts', words("'done ' + said"));
    assert.match(
      await says(/graphs reloaded in \d+ ms\n(?:.*\n)*?run \S+… of asks: .*\n/),
      /of asks: equal \(4 checkpoints, 1 call served, \d+\.\d s\)/,
    );
    // of another graph
    write('adds.ts', FILES['adds.ts'].replace('sum + 1', 'sum + 2'));
    assert.match(await says(/run \S+… of \w+: .*\n/), /of adds: different at step \d+, channel sum: 1 → 2/);
    // what a node writes
    write('words.ts', words('`Done ${said}`'));
    assert.match(
      await says(/run \S+… of \w+: .*\n/),
      /of asks: different at step 2, node finish, channel kept.*: "done answer 1" → "Done answer 1"/,
    );
    // a request that the recording does not answer
    write('asks.ts', asking('{ asked, polite: true }'));
    const diff = await says(/run \S+… of \w+: .*\n(?: {2}.*\n)*?.*"polite": true/);
    assert.match(diff, /different: node ask, step 1, makes another request, body\.polite\n/);
    assert.match(diff, /\+ +"polite": true/);
    // nobody was asked again
    assert.equal(requests(), 1);
    const verdicts = (await server.ask('GET', '/server/verdicts' as any)).json as any[];
    assert.deepEqual(
      verdicts.map(({ graph_id, verdict }) => [graph_id, verdict]),
      [
        ['asks', 'different'],
        ['asks', 'different'],
        ['adds', 'different'],
        ['asks', 'equal'],
      ],
    );
    assert.ok(dir);
  }));

test('what cannot be tried is told once, and a save that does not load is not tried', () =>
  withSaves(async ({ server, write, says }) => {
    await run(server, 'adds', { port: 1 });
    write('adds.ts', `${FILES['adds.ts']}\n`);
    assert.match(await says(/run \S+… of \w+: .*\n/), /of adds: untried: .*socket/);
    write('adds.ts', `${FILES['adds.ts']}\n\n`);
    await says(/graphs reloaded/);
    write('adds.ts', 'export const graph = (;');
    await says(/reload failed/);
    await run(server, 'asks', { asked: 'hi' });
    write('words.ts', words("'done ' + said"));
    write('adds.ts', FILES['adds.ts']);
    assert.match(await says(/run \S+… of \w+: .*\n/), /of asks: equal/);
    assert.equal(server.output().match(/of adds: untried/g)?.length, 1);
  }));

test.run();
