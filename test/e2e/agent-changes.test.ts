/** Agents and functions on both library lines: unchanged ones are equal, planted changes are named by their place (R3). */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyProject, ensureLine, type Line } from '../projects/lines.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { reexecuted, shown, type Case } from './kinds-of-code.ts';

const test = suite('changes of agents');

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
console.log(`SEED=${SEED}`);
/** Percentage of all changes that is drawn; `npm run test:long` takes more. */
const SHARE_PERCENT = Number(process.env['KINDS_SHARE'] ?? 3);

/** Changes by graph, each with the end of the place that it is named by: step and node. */
const OF_TOOLS: Readonly<Record<string, string>> = {
  ...{ 'request body': 'tools', 'additional request': 'tools', 'missing request': 'tools', frame: 'tools' },
  ...{ 'thrown in a tool': 'tools', 'result of a tool': 'tools', 'value of an item': 'tools' },
  ...{ 'missing item': 'tools', 'additional item': 'tools', 'use of an argument': 'tools' },
  ...{ prompt: 'MODEL', 'additional model call': 'MODEL', 'argument of a tool': 'MODEL' },
  ...{ 'order of tools': 'MODEL', 'missing tool': 'MODEL', 'another tool': 'MODEL' },
  ...{ 'additional round': 'MODEL', 'last message': 'MODEL' },
};
const of = (model: string): Record<string, string> =>
  Object.fromEntries(Object.entries(OF_TOOLS).map(([name, node]) => [name, node === 'MODEL' ? model : node]));
const CHANGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agent: of('model_request'),
  react: of('agent'),
  deep: {
    ...{
      'to-do': 'model_request',
      'order to a subagent': 'model_request',
      'missing subagent': 'model_request',
    },
    ...{ file: 'model_request', 'missing file': 'model_request', prompt: 'model_request' },
    ...{ 'answer of a subagent': 'model_request', 'result of a tool': 'tools', 'request body': 'tools' },
  },
  functional: {
    ...{ 'thrown in a task': 'half', 'request of a task': 'half', 'result of a task': 'half' },
    ...{ 'missing task': 'functional', 'additional task': 'half', 'frame of a function': 'functional' },
    ...{ 'end of a function': 'functional' },
  },
};
/** Changes of a step of several tasks: no frame names one, and before library 0.3 no path does. */
const UNNAMED: readonly string[] = ['frame of a function', 'missing task'];
const SOURCES: Readonly<Record<string, string>> = {
  react: 'react',
  functional: 'react',
  agent: 'deep',
  deep: 'deep',
};
const ON_LINES: Readonly<Partial<Record<Line, readonly string[]>>> = {
  '1.7': ['agent', 'deep', 'functional'],
  '0.2': ['react', 'functional'],
};

for (const [line, graphs] of Object.entries(ON_LINES) as [Line, readonly string[]][]) {
  const project = async (): Promise<string> => {
    const folder = await copyProject(await ensureLine(line), 'changing-agents', 'changes');
    const sources = graphs.map((graph) => [graph, `./src/${SOURCES[graph]}.ts:${graph}`]);
    const config = join(folder, 'langgraph.json');
    await writeFile(config, JSON.stringify({ graphs: Object.fromEntries(sources), recording: true }));
    return config;
  };
  const caseOf = (graph: string, change: string): Case => {
    const input = { messages: [{ role: 'user', content: `Look. change:${change}.` }] };
    return { title: `${graph}: ${change}`, graph, input };
  };

  test(`agents and functions of line ${line} are equal, and each change of them is named by its place`, async () => {
    // given
    const config = await project();
    const changes = graphs.flatMap((graph) =>
      Object.keys(CHANGES[graph]!).map((name) => caseOf(graph, name)),
    );
    const drawn = createRandom(SEED)
      .shuffle(changes)
      .slice(0, Math.ceil((changes.length * SHARE_PERCENT) / 100));
    const unchanged = graphs.map((graph) => caseOf(graph, 'nothing'));
    // when
    const reports = await reexecuted([...unchanged, ...drawn], { PLANTED: 'yes' }, { config, seed: SEED });
    // then
    const wrong = reports.filter(({ title, verdict, comparison, request }) => {
      const [graph, change] = title.split(': ') as [string, string];
      if (change === 'nothing') return verdict !== 'equal';
      const place = String(comparison?.divergence?.['node'] ?? request?.task.split(' ')[1] ?? '');
      if (place === '' && UNNAMED.includes(change)) return verdict !== 'different';
      return verdict !== 'different' || !place.split('|').includes(CHANGES[graph]![change]!);
    });
    assert.deepEqual(wrong.map(shown), []);
  });
}

test.run();
