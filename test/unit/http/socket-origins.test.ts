import assert from 'node:assert/strict';
import { socketOrigins } from '../../../src/http/cors.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http: origins of sockets');

const NONE = { methods: [], headers: [], expose: [], maxAgeSecs: 0 };
const APP = 'https://app.example';
const OTHER = 'https://other.example';

test('cookies of pages that open sockets count only where they would in other requests', () => {
  const ask = (config: { origins: string[]; originRegex?: string; credentials: boolean }) => {
    const origins = socketOrigins({ ...NONE, ...config });
    return [undefined, 'http://host:1', APP, OTHER, 'null'].map((origin) => origins(origin, 'HOST:1'));
  };
  const [yes, bare, no] = ['with-credentials', 'without-credentials', 'no'];
  assert.deepEqual(ask({ origins: ['*'], credentials: false }), [yes, yes, bare, bare, bare]);
  assert.deepEqual(ask({ origins: [APP], credentials: false }), [yes, yes, bare, no, no]);
  assert.deepEqual(ask({ origins: [APP], credentials: true }), [yes, yes, yes, no, no]);
  assert.deepEqual(ask({ origins: ['*'], originRegex: 'https://app[.].*', credentials: true }), [
    yes,
    yes,
    yes,
    no,
    no,
  ]);
});

test.run();
