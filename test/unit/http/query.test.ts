import * as assert from 'uvu/assert';
import { readQuery } from '../../../src/http/query.ts';
import { HttpProblem } from '../../../src/http/replies.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/query');

const read = (query: string) =>
  readQuery(`http://here/?${query}`, { wait: 'boolean', limit: 'number', ids: 'list' });

test('given flags in the forms that clients send, when they are read, then they are true and false', () => {
  for (const text of ['true', 'True', '1', 'yes']) assert.equal(read(`wait=${text}`), { wait: true });
  for (const text of ['false', 'False', '0', 'no', '']) assert.equal(read(`wait=${text}`), { wait: false });
  assert.equal(read(''), {});
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
