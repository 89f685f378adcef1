import assert from 'node:assert/strict';
import { workerEnvironment } from '../../../src/workers/environment.ts';
import { suite } from '../../support/suite.ts';

const test = suite('workers/environment');

test("a worker has the server's variables without its settings and secrets", () => {
  const env = {
    ...{ PATH: '/bin', OPENAI_API_KEY: 'k', PLATFORM_API_KEYS: 'secret', REWOUND_ROLE: 'x' },
    ...{ LG_WEBHOOK_TOKEN: 'secret', HOOKS_TOKEN: 'secret' },
  };
  assert.deepEqual(workerEnvironment(env, 'LG_WEBHOOK_'), {
    ...{ PATH: '/bin', OPENAI_API_KEY: 'k', HOOKS_TOKEN: 'secret' },
  });
  assert.deepEqual(workerEnvironment(env, 'HOOKS_'), {
    ...{ PATH: '/bin', OPENAI_API_KEY: 'k', LG_WEBHOOK_TOKEN: 'secret' },
  });
});

test.run();
