import * as assert from 'node:assert/strict';
import { createHeaderFilter, createInheritance } from '../../../src/http/header-rules.ts';
import { suite } from '../../support/suite.ts';

const test = suite('rules for headers');

const headers = new Headers({
  'x-one': '1',
  'x-two': '2',
  'x.one': 'dot',
  'X-Api-Key': 'secret',
  'x-tenant-id': 'secret',
  'x-service-key': 'secret',
  authorization: 'secret',
  'proxy-authorization': 'secret',
  cookie: 'secret',
  accept: 'a',
  thread_id: 'posing',
  checkpoint_id: 'posing',
  langgraph_auth_user: 'posing',
  __pregel: 'posing',
});
const names = (include: string[], exclude: string[] = []): string[] =>
  Object.keys(createHeaderFilter({ include, exclude })(headers));

test('A4 no rule selects credentials, and no header name poses as a key with a meaning', () => {
  const all = createHeaderFilter({ include: ['*', 'cookie', 'Authorization'], exclude: [] })(headers);
  assert.ok(!Object.values(all).includes('secret'));
  const inherited = createInheritance({ include: ['*'], exclude: [] })(headers);
  assert.deepEqual(Object.keys(inherited).sort(), ['accept', 'x-one', 'x-two', 'x.one']);
});

test('by default x-* headers are inherited, and the user agent is not', () => {
  const sent = new Headers([...headers, ['user-agent', 'browser'], ['X-Amzn-Oidc-Data', 'signed']]);
  const inherited = createInheritance({ exclude: ['x-two'] })(sent);
  assert.deepEqual(inherited, { 'x-amzn-oidc-data': 'signed', 'x-one': '1' });
});

test('in header rules only a star is special, case is ignored and exclusions win', () => {
  assert.deepEqual(names([]), []);
  assert.deepEqual(names(['X-*']), ['x-one', 'x-two']);
  assert.deepEqual(names(['x.one']), ['x.one']);
  assert.deepEqual(names(['x-*'], ['*-ONE']), ['x-two']);
  assert.deepEqual(names(['*ccep*', 'x-two']), ['accept', 'x-two']);
  assert.deepEqual(names(['x-'], []), []);
});

test.run();
