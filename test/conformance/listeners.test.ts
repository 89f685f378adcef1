import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { say } from './scene.ts';

const test = suite('conformance: listeners of signals');

const RUNS_AT_ONCE = 24;
/** Node warns at the eleventh listener of a target with its default limit. */
const LISTENERS = 20;

test(`${RUNS_AT_ONCE} runs at once whose code listens to its signal give no listener warning`, () =>
  withTempDir(async (dir) => {
    const config = join(dir, 'platform.json');
    writeFileSync(
      join(dir, 'listens.mjs'),
      `export const graph = async (state, { signal }) => {
        for (let i = 0; i < ${LISTENERS}; i++) signal.addEventListener('abort', () => undefined);
        await new Promise((resolve) => setImmediate(resolve));
        return { heard: true };
      };`,
    );
    const graphs = { listens: './listens.mjs:graph', agent: `${PROJECT}agent.ts:graph` };
    writeFileSync(config, JSON.stringify({ graphs }));
    const warnings: Error[] = [];
    const onWarning = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', onWarning);
    try {
      await withServer({ config, workers: 0 }, async (s) => {
        for (const graph of Object.keys(graphs))
          await Promise.all(
            Array.from({ length: RUNS_AT_ONCE }, () => s.client.runs.wait(null, graph, { input: say('hi') })),
          );
      });
      assert.deepEqual(warnings, []);
    } finally {
      process.off('warning', onWarning);
    }
  }));

test.run();
