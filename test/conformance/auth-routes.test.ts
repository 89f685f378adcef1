import * as assert from 'node:assert/strict';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import { suite } from '../support/suite.ts';
import { withServer, type Answer } from '../support/with-server.ts';
import {
  as,
  canaryOf,
  CREATING_REQUESTS,
  fill,
  MISSING_THINGS,
  OTHERS,
  REQUESTS,
  setUp,
  type Ask,
  type Things,
} from '../isolation/requests.ts';
import { config } from './scene.ts';

const test = suite('conformance: every route and its strangers');

const AUTH = {
  config: config('platform.auth.json'),
  // A webhook that fails comes again after the test.
  env: { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '86400' },
};
const CANARY = canaryOf('alice');

/** All that a client can see, with what it said itself taken out. */
function seen({ status, headers, text }: Answer, it: Things): unknown {
  const ids = Object.values(it) as string[];
  const blind = (words: string): string => ids.reduce((left, id) => left.replaceAll(id, '<id>'), words);
  const kept = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => [name, blind(value)]);
  return { status, headers: kept, text: blind(text) };
}

test('A3 given the things of another user, when any operation is asked for them, then it answers as for missing ones and nothing happens', () =>
  withServer(AUTH, async (s) => {
    const known = ENDPOINTS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    assert.deepEqual(
      [...Object.keys(REQUESTS), ...Object.keys(CREATING_REQUESTS), ...OTHERS].sort(),
      known.sort(),
    );
    const hers = await setUp(s);
    const before = await s.events();
    for (const [operation, toAsks] of Object.entries(REQUESTS)) {
      const [method = '', path = ''] = operation.split(' ');
      const [foreign, missing] = [toAsks(hers), toAsks(MISSING_THINGS)];
      for (const [i, [query, body]] of foreign.entries())
        for (const which of ['run', 'running'] as const) {
          if (which === 'running' && !path.includes('{run_id}')) continue;
          const ask = (it: Things, [query, body]: Ask): Promise<Answer> =>
            s.request(method, fill(path, it, it[which]) + query, body, as('bob'));
          const one = await ask(hers, [query, body]);
          const other = await ask(MISSING_THINGS, missing[i]!);
          const what = `${operation}${query} ${JSON.stringify(body)}`;
          assert.deepEqual(seen(one, hers), seen(other, MISSING_THINGS), what);
          assert.ok(!one.text.includes(CANARY), `${what}: ${one.text}`);
          assert.deepEqual(await s.events(), before, what);
        }
    }
  }));

test.run();
