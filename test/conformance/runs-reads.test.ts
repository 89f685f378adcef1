import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { watchStatements } from '../support/statements.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: what requests read back');

const listen = watchStatements();

const RUN = { assistant_id: 'echo', input: say('hi') } as const;

/** The statements that an operation reads with, outside commits; the fewest of some tries, for polls read as well. */
async function readsOf(operation: () => Promise<unknown>): Promise<readonly string[]> {
  const tries: string[][] = [];
  for (let i = 0; i < 4; i++) {
    const reads: string[] = [];
    listen(({ sql, db, reads: isRead }) => isRead && !db.inTransaction && reads.push(sql));
    await operation();
    tries.push(reads);
  }
  listen(undefined);
  return tries.toSorted((a, b) => a.length - b.length)[0]!;
}

test('what a request has just written it does not read back', () =>
  withServer({}, async (s: TestServer) => {
    const most: Record<string, [number, () => Promise<unknown>]> = {
      thread: [0, () => s.request('POST', '/threads', {})],
      stateless: [1, () => s.request('POST', '/runs/wait', RUN)],
      'stateless stream': [1, () => s.request('POST', '/runs/stream', RUN)],
      'thread and wait': [2, async () => s.request('POST', `/threads/${await newThread(s)}/runs/wait`, RUN)],
      'thread and stream': [
        2,
        async () => s.request('POST', `/threads/${await newThread(s)}/runs/stream`, RUN),
      ],
    };
    for (const [name, [count, operation]] of Object.entries(most)) {
      const reads = await readsOf(operation);
      assert.ok(reads.length <= count, `${name}: ${reads.join('\n')}`);
    }
    // The second run of a thread begins where the first one ended.
    const threadId = await newThread(s);
    await s.request('POST', `/threads/${threadId}/runs/wait`, RUN);
    const next = await readsOf(() => s.request('POST', `/threads/${threadId}/runs/wait`, RUN));
    assert.ok(next.length <= 3, next.join('\n'));
  }));

test.run();
