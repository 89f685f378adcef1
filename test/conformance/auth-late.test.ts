/** Answers that come late, to questions of somebody who may not have them any more. */
import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withServer } from '../support/with-server.ts';
import { withProject } from '../unit/graphs/project-harness.ts';

const test = suite('conformance: late answers');

const AUTH = fileURLToPath(new URL('../fixtures/project/auth.ts', import.meta.url));
/** Its first making after the file is there never ends. */
const HANGS = `import { existsSync, rmSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ said: Annotation() });
const graph = new StateGraph(State).addNode('n', () => ({})).addEdge(START, 'n').addEdge('n', END).compile();
export async function made(config) {
  const file = import.meta.dirname + '/hangs';
  if (!existsSync(file)) return graph;
  rmSync(file);
  return new Promise(() => undefined);
}`;
const THREAD = '11111111-1111-4111-8111-111111111111';

const GET_STATE = { id: 1, method: 'state.get', params: {} };
for (const [method, path, body] of [
  ['GET', `/threads/${THREAD}/state`],
  ['GET', `/threads/${THREAD}/history`],
  ['POST', `/threads/${THREAD}/commands`, GET_STATE],
] as const)
  test(`A2 given a question that waits, when the id is another user's thread by the time of the answer, then ${method} ${path} is as missing as any`, () =>
    withProject(
      {
        'made.mjs': HANGS,
        'platform.json': JSON.stringify({
          ...{ dependencies: ['.'], graphs: { made: './made.mjs:made' }, auth: { path: `${AUTH}:auth` } },
        }),
      },
      (dir) =>
        withServer({ config: join(dir, 'platform.json'), allowFaults: true }, async (s) => {
          const ask = (who: string, verb: string, where: string, body?: object) =>
            s.request(verb, where, body, { authorization: `Bearer ${who}-token` });
          const make = async (who: string, said: string): Promise<void> => {
            const thread = { thread_id: THREAD, metadata: { graph_id: 'made' } };
            assert.equal((await ask(who, 'POST', '/threads', thread)).status, 200);
            const { status } = await ask(who, 'POST', `/threads/${THREAD}/state`, { values: { said } });
            assert.equal(status, 200);
          };
          await make('alice', 'hello');
          await writeFile(join(dir, 'hangs'), '');
          const leaving = new AbortController();
          void fetch(`${s.url}${path}`, {
            method,
            headers: { authorization: 'Bearer alice-token', 'content-type': 'application/json' },
            ...(body && { body: JSON.stringify(body) }),
            signal: leaving.signal,
          }).catch(() => undefined);
          await until('the question hangs', async () => !existsSync(join(dir, 'hangs')));
          const late = ask('alice', method, path, body);
          // By the time of the answers to these the question before them waits.
          for (let i = 0; i < 3; i++) await s.request('GET', '/ok');
          assert.equal((await ask('alice', 'DELETE', `/threads/${THREAD}`)).status, 204);
          await make('bob', 'a secret');
          const { status, text } = await late;
          const missing = await ask('alice', method, path, body);
          assert.deepEqual([status, text], [missing.status, missing.text]);
          assert.match(text, /not found/);
          leaving.abort();
        }),
      { libraries: true },
    ));

test.run();
