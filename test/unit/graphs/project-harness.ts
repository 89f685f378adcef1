import * as assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadGraphs, type LoadedGraph } from '../../../src/graphs/loader.ts';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { human, openLoaded } from './harness.ts';

/** All that is installed here. */
export const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** A folder outside of any package, with the libraries in reach if they are wanted. */
export const withProject = <T>(
  files: Record<string, string>,
  use: (dir: string) => Promise<T>,
  { libraries = false } = {},
): Promise<T> =>
  withTempDir(async (dir) => {
    await writeFiles(dir, files);
    if (libraries) await symlink(PACKAGES, join(dir, 'node_modules'));
    return use(dir);
  });

export async function writeFiles(dir: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
}

export const load = async (file: string, exportName = 'graph'): Promise<LoadedGraph> => {
  const { graphs, problems } = await loadGraphs([{ id: 'agent', file, exportName }]);
  assert.deepEqual(problems, []);
  assert.ok(graphs[0]);
  return graphs[0];
};

/** The last values of a run that says hi. */
export const sayHi = async (graph: LoadedGraph, configurable: JsonObject = {}): Promise<Json> => {
  const { end, of } = await openLoaded(graph).run({
    input: { messages: [human('hi', 'm1')] },
    config: { configurable, metadata: {} },
  });
  assert.equal(end.kind, 'success', JSON.stringify(end));
  return of('values').at(-1) ?? null;
};

export const answers = (values: Json): Json[] =>
  ((values as JsonObject)['messages'] as JsonObject[]).map((message) => message['content'] ?? null);

/** Source text of `build`, which makes a graph that answers with a text. */
export const GRAPH = `
  import { StateGraph, MessagesAnnotation } from '@langchain/langgraph';
  const reply = (text) => () => ({ messages: [{ type: 'ai', content: text }] });
  const build = (text = 'built') =>
    new StateGraph(MessagesAnnotation).addNode('a', reply(text)).addEdge('__start__', 'a');
`;
