import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withModelServer } from '../e2e/model-server.ts';
import { withPrograms } from '../e2e/programs.ts';
import { suite } from '../support/suite.ts';

const test = suite('re-execution of a long run');

const CONFIG = fileURLToPath(new URL('../fixtures/recorded', import.meta.url));
const STEPS = 10_000;

test(`a run of ${STEPS} steps is exported and executed again with no difference`, () =>
  withModelServer((model) =>
    withPrograms(async ({ dir, serve, run }) => {
      // given
      const env = { MODEL_URL: model.url };
      const server = await serve({ args: ['--config', CONFIG], env });
      const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
      const asked = {
        ...{ assistant_id: 'loop', input: { n: STEPS }, stream_mode: ['updates'] },
        config: { recursion_limit: 2 * STEPS },
      };
      const { json } = await server.ask('POST', `/threads/${thread}/runs/wait`, asked);
      assert.equal(json.n, 0, `${JSON.stringify(json).slice(0, 400)} ${server.output().slice(-600)}`);
      // when
      const file = join(dir, 'loop.rewound');
      const data = ['--data', join(dir, 'data')];
      const exported = await run({ args: ['export', ...data, '--thread', thread, '--output', file] });
      const { code, output } = await run({ args: ['replay', '--execute', '--config', CONFIG, file], env });
      // then
      assert.equal(exported.code, 0, exported.output);
      assert.equal(code, 0, output);
      assert.match(output, new RegExp(`compared: ${STEPS + 2} checkpoints`));
    }),
  ));

test.run();
