import * as assert from 'node:assert/strict';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { asServer, withPrograms, type Programs, type ServerProgram } from './programs.ts';

const test = suite('what graph code finds around it');

const GRAPH = `
import { readFileSync } from 'node:fs';
const loaded = [process.env.PORT, process.env.LANGGRAPH_API_URL];
export const graph = () => ({
  cwd: process.cwd(),
  text: readFileSync('prompt.txt', 'utf8'),
  loaded,
  port: process.env.PORT,
  url: process.env.LANGGRAPH_API_URL,
});
`;

async function writeProject(dir: string): Promise<string> {
  const project = join(await realpath(dir), 'project');
  await mkdir(project);
  await writeFile(join(project, 'langgraph.json'), '{ "graphs": { "graph": "./graph.mjs:graph" } }');
  await writeFile(join(project, 'graph.mjs'), GRAPH);
  await writeFile(join(project, 'prompt.txt'), 'a prompt');
  return project;
}

/** Started in the folder above the project's, with paths relative to that. */
const serve = ({ launch, dir }: Programs, more: readonly string[], env = {}): Promise<ServerProgram> => {
  const args = ['serve', '--config', 'project', '--data', 'relative-data', ...more];
  return asServer(launch({ args, cwd: dir, env }));
};

const seenBy = async (server: ServerProgram): Promise<Record<string, unknown>> =>
  (await server.ask('POST', '/runs/wait', { assistant_id: 'graph', input: {} })).json;

for (const workers of ['0', '1'])
  test(`graph code runs in its project's folder and finds the server's address, PLATFORM_WORKERS=${workers}`, () =>
    withPrograms(async (programs) => {
      const project = await writeProject(programs.dir);
      const env = { PLATFORM_WORKERS: workers };
      const free = await serve(programs, ['--port', '0'], env);
      const { cwd, text, port, url } = await seenBy(free);
      assert.deepEqual([cwd, text], [project, 'a prompt']);
      assert.deepEqual([port, url], [String(free.port), free.url]);
      // The flag is relative to the folder that the program was started in.
      assert.match(free.output(), new RegExp(`^Data +${await realpath(programs.dir)}/relative-data/`, 'm'));
      await free.end('SIGTERM');

      const own = { ...env, PORT: '1', LANGGRAPH_API_URL: 'https://agents.example' };
      const named = await serve(programs, ['--port', String(free.port)], own);
      const seen = await seenBy(named);
      const expected = [String(free.port), 'https://agents.example'];
      assert.deepEqual([seen['port'], seen['url']], expected);
      assert.deepEqual(seen['loaded'], expected);
    }));

test.run();
