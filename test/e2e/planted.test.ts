/** Mistakes in graphs, as strangers make them: `dev` names each with its line at once, and a log keeps the silent ones. */
import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { runHere } from '../support/command-line.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { withProject, type Project } from './dev-project.ts';
import {
  HELPER,
  PLANTED_IN_LOADING,
  PLANTED_IN_RUNS,
  PLANTED_SILENTLY,
  type Planted,
} from './planted-graphs.ts';
import { createThread } from './runs.ts';

const test = suite('planted mistakes');

const MAX_MS = scaled(10_000);

function withPlanted(
  planted: Readonly<Record<string, Planted>>,
  use: (project: Project) => Promise<void>,
): Promise<void> {
  const graphs = Object.fromEntries(
    ['fine', ...Object.keys(planted)].map((name) => [name, `./${name}.ts:graph`]),
  );
  const files = {
    'platform.json': JSON.stringify({ graphs }),
    'fine.ts': 'export const graph = () => ({});',
    'helper.ts': HELPER,
    ...Object.fromEntries(Object.entries(planted).map(([name, { source }]) => [`${name}.ts`, source])),
  };
  return withProject(files, use, {}, { withPackages: true });
}

/** The marked line as its place; undefined for a mistake in another file. */
function placeOf(name: string, { source }: Planted): RegExp | undefined {
  const line = source.split('\n').findIndex((text) => text.endsWith('//!')) + 1;
  return line === 0 ? undefined : new RegExp(`${name}\\.ts:${line}:\\d+`);
}

test('each mistake that keeps a graph from loading is named with its line at the start', () =>
  withPlanted(PLANTED_IN_LOADING, async ({ server }) => {
    const lines = server.output().split('\n');
    for (const [name, planted] of Object.entries(PLANTED_IN_LOADING)) {
      const said = lines.find((line) => line.startsWith(`graph "${name}"`)) ?? '';
      assert.match(said, planted.says);
      assert.match(said, placeOf(name, planted)!);
    }
  }));

test('each mistake that fails a run is named with its line and its code within 10 s', () =>
  withPlanted(PLANTED_IN_RUNS, async ({ server, says }) => {
    for (const [name, planted] of Object.entries(PLANTED_IN_RUNS)) {
      const begun = performance.now();
      const body = { assistant_id: name, input: planted.input ?? {} };
      await server.ask('POST', '/runs/wait', body);
      const said = await says(new RegExp(`run failed: graph "${name}"[^]*?\\n +(?:\\||\\d).*\\^\\n`));
      assert.match(said, planted.says);
      const place = placeOf(name, planted);
      if (place !== undefined) assert.match(said, place);
      assert.ok(performance.now() - begun < MAX_MS, name);
    }
  }));

test('each success that did something in vain is warned of with its line, on the console and in replay', () =>
  withPlanted(PLANTED_SILENTLY, async ({ dir, server, says }) => {
    for (const [name, planted] of Object.entries(PLANTED_SILENTLY)) {
      const thread = await createThread(server);
      const body = { assistant_id: name, input: planted.input ?? { count: 1 } };
      await server.ask('POST', `/threads/${thread}/runs/wait`, body);
      const said = await says(new RegExp(`WARN: ! ${name} [^]*?✓ ${name} `));
      assert.match(said, planted.says);
      assert.match(said, placeOf(name, planted)!);
      const { out } = await runHere(['replay', '--data', join(dir, '../data'), '--thread', thread]);
      const warnings = out.split('\n').slice(out.split('\n').findIndex((line) => /^ +warning: /.test(line)));
      const [, text] = planted.says.source.split(/^step \S+: /);
      assert.match(warnings.join(' ').replaceAll(/\s+/g, ' '), new RegExp(text ?? planted.says.source));
      assert.match(out, placeOf(name, planted)!);
    }
  }));

test.run();
