import * as assert from 'node:assert/strict';
import { listReply } from '../../../src/http/list-reply.ts';
import { HttpProblem } from '../../../src/http/replies.ts';
import { suite } from '../../support/suite.ts';

const test = suite('replies that list records');
const MB = 2 ** 20;
const large = (n: number) => ({ n, text: 'x'.repeat(MB) });

test('given records, when they are listed, then they are JSON, none as an empty list', async () => {
  for (const records of [[], [1], [1, 2, 3]]) {
    const reply = await listReply(records, async (n) => ({ n }), { 'x-pagination-total': '3' });
    assert.equal(reply.headers.get('content-type'), 'application/json');
    assert.equal(reply.headers.get('x-pagination-total'), '3');
    assert.deepEqual(
      await reply.json(),
      records.map((n) => ({ n })),
    );
  }
});

test('a list over the size limit is refused by field, and its rest is not rendered', async () => {
  let rendered = 0;
  const render = async (n: number) => large((rendered = n));
  await assert.rejects(
    listReply([1, 2, 3, 4, 5, 6, 7, 8], render, {}, 4 * MB),
    (error) =>
      error instanceof HttpProblem &&
      error.status === 400 &&
      /^limit: .* 4 records are larger/.test(error.message),
  );
  assert.equal(rendered, 4);
});

test.run();
