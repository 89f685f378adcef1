import * as assert from 'node:assert/strict';
import { mirror, underRun, type Settings } from '../../../src/http/runs/settings.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/run settings');

const settings = (config: Settings['config'] = {}, context?: Settings['context']): Settings => ({
  config,
  context,
});
const configurable = (values: Record<string, string | number>) => ({ configurable: values });

test('context and configurable mirror each other where a client fills only one', () => {
  const cases: [name: string, given: Settings, expected: Settings][] = [
    ['neither', settings(), settings()],
    ['tags alone', settings({ tags: ['t'] }), settings({ tags: ['t'] })],
    ['context alone', settings({}, { a: 1 }), settings(configurable({ a: 1 }), { a: 1 })],
    ['configurable alone', settings(configurable({ a: 1 })), settings(configurable({ a: 1 }), { a: 1 })],
    [
      'configurable, empty context',
      settings(configurable({ a: 1 }), {}),
      settings(configurable({ a: 1 }), { a: 1 }),
    ],
    ['both', settings(configurable({ a: 1 }), { b: 2 }), settings(configurable({ a: 1 }), { b: 2 })],
    [
      'config.context, which context overrides',
      settings({ context: { a: 1, b: 1 } }, { b: 2 }),
      settings({ context: { a: 1, b: 1 }, ...configurable({ a: 1, b: 2 }) }, { a: 1, b: 2 }),
    ],
    [
      'places are no settings',
      settings(configurable({ thread_id: 't' })),
      settings(configurable({ thread_id: 't' })),
    ],
    [
      'a place stays beside mirrored settings',
      settings(configurable({ checkpoint_id: 'c' }), { a: 1 }),
      settings(configurable({ checkpoint_id: 'c', a: 1 }), { a: 1 }),
    ],
  ];
  for (const [name, given, expected] of cases) assert.deepEqual(mirror(given), expected, name);
});

test('the request wins over the assistant, key by key, in context and configurable', () => {
  const assistant = mirror(settings({}, { color: 'a', size: 1 }));
  const cases: [name: string, request: Settings, context: unknown, configurable: unknown][] = [
    ['nothing', settings(), { color: 'a', size: 1 }, { color: 'a', size: 1 }],
    ['a context', settings({}, { color: 'b' }), { color: 'b', size: 1 }, { color: 'b', size: 1 }],
    [
      'a configurable',
      settings(configurable({ z: 1 })),
      { color: 'a', size: 1, z: 1 },
      { color: 'a', size: 1, z: 1 },
    ],
    [
      'both',
      settings(configurable({ z: 1 }), { color: 'b' }),
      { color: 'b', size: 1 },
      { color: 'a', size: 1, z: 1 },
    ],
  ];
  for (const [name, request, context, values] of cases) {
    const merged = underRun(assistant, request);
    assert.deepEqual([merged.context, merged.config['configurable']], [context, values], name);
  }
  assert.equal(underRun(settings({}, {}), settings()).context, null);
});

test('config members of the request replace those of the assistant; metadata is merged', () => {
  const own = settings({ tags: ['own'], recursion_limit: 5, metadata: { a: 1, b: 1 } }, {});
  const given = settings({ tags: ['given'], metadata: { b: 2 } });
  assert.deepEqual(underRun(own, given).config, {
    tags: ['given'],
    recursion_limit: 5,
    metadata: { a: 1, b: 2 },
    configurable: {},
  });
});

test.run();
