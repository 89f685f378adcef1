import assert from 'node:assert/strict';
import { notSearched, problemReply } from '../../../src/http/replies.ts';
import { suite } from '../../support/suite.ts';
import { SearchRefused } from '../../../src/store/port/views/views.ts';

const test = suite('http: searches that are refused');

const answered = async (reason: SearchRefused['reason']) => {
  const reply = problemReply(notSearched(new SearchRefused(reason, 10_000)));
  const { detail } = (await reply.json()) as { detail: string };
  return { status: reply.status, retry: reply.headers.get('retry-after'), detail };
};

test('S3 a search over its time limit gets 503 with the limit and faster alternatives', async () => {
  const { status, retry, detail } = await answered('slow');
  assert.deepEqual([status, retry], [503, null]);
  assert.match(detail, /longer than 10 s\. Narrow it: by ids, by status, or by a value of the metadata/);
});

test('S3 given more searches than may wait, when one is answered, then with 503 and when to come again', async () => {
  for (const reason of ['busy', 'closed'] as const) {
    const { status, retry } = await answered(reason);
    assert.deepEqual([status, retry], [503, '1']);
  }
});

test.run();
