import * as assert from 'uvu/assert';
import { ENDPOINTS } from '../../../src/http/endpoints.ts';
import { kindsOf, readQuery } from '../../../src/http/query.ts';
import { HttpProblem } from '../../../src/http/replies.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/query');

const read = (query: string) =>
  readQuery(`http://here/?${query}`, {
    ...{ wait: 'boolean', limit: 'number', ids: 'list', key: 'text', filter: 'json', namespace: 'texts' },
  });

test('given flags in the forms that clients send, when they are read, then they are true and false', () => {
  for (const text of ['true', 'True', '1', 'yes']) assert.equal(read(`wait=${text}`), { wait: true });
  for (const text of ['false', 'False', '0', 'no']) assert.equal(read(`wait=${text}`), { wait: false });
  assert.equal(read(''), {});
});

test('empty values are absent, whatever their kind, but for texts', () => {
  for (const field of ['wait', 'limit', 'ids', 'key', 'filter']) assert.equal(read(`${field}=`), {}, field);
  assert.equal(read('ids=[]&ids=,'), {});
  assert.equal(read('limit=&limit=2&key=&key=a&ids=&ids=b'), { limit: 2, key: 'a', ids: ['b'] });
  assert.equal(read('namespace='), { namespace: [''] });
});

test('no endpoint sees an empty parameter but for the namespace of a run stream', () => {
  for (const { method, path, query } of ENDPOINTS) {
    if (query === undefined) continue;
    const kinds = kindsOf(query);
    const empty = Object.keys(kinds).map((name) => `${name}=`);
    const expected = kinds['namespace'] === 'texts' ? { namespace: [''] } : {};
    assert.equal(readQuery(`http://here/?${empty.join('&')}`, kinds), expected, `${method} ${path}`);
  }
});

test('given anything else, when it is read, then the refusal names the field and what was expected', () => {
  const refusals = { 'wait=foo': /^wait: expected true or false$/, 'wait=2': /^wait:/, 'limit=x': /^limit:/ };
  for (const [query, says] of Object.entries(refusals))
    assert.throws(
      () => read(query),
      (error: unknown) => error instanceof HttpProblem && error.status === 422 && says.test(error.message),
    );
});

test.run();
