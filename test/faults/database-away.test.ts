/** A server whose database goes away and comes back. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withPostgres } from '../support/postgres.ts';
import { suite } from '../support/suite.ts';
import { withTcpProxy } from '../support/tcp-proxy.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('faults: the database is away');

test('X5 a run goes on when the database is back; meanwhile requests get 503 and the health check says so', () =>
  withPostgres((url) =>
    withTcpProxy(url, async (proxy) => {
      const address = url.replace(new URL(url).host, new URL(proxy.url).host);
      const env = { PLATFORM_DATABASE_URL: `${address}?pool=4` };
      await withServer({ env }, async (s) => {
        const gate = join(s.dir, 'gate');
        const open = (step: number): void => writeFileSync(`${gate}${step}`, '');
        const { thread_id: threadId } = await s.client.threads.create();
        const run = await s.client.runs.create(threadId, 'steps', {
          config: { configurable: { count: 4, gate } },
        });
        open(1);
        await s.until(({ type }) => type === 'CheckpointSaved');
        proxy.goAway();
        open(2);
        open(3);
        const read = await s.request('GET', `/threads/${threadId}`);
        assert.deepEqual([read.status, read.headers.get('retry-after')], [503, '1']);
        assert.equal((await s.request('GET', '/ok')).status, 200);
        assert.equal((await s.request('GET', '/ok?check_db=1')).status, 500);
        const created = s.request('POST', '/threads', {});
        proxy.comeBack();
        assert.equal((await created).status, 200);
        open(4);
        await s.client.runs.join(threadId, run.run_id);
        assert.equal((await s.client.runs.get(threadId, run.run_id)).status, 'success');
        const { values } = await s.client.threads.getState<{ done: number; messages: unknown[] }>(threadId);
        assert.deepEqual([values.done, values.messages.length], [4, 4]);
        assert.ok((await s.events()).every(({ type }) => type !== 'RunRequeued'));
        const told = s.warnings.filter((text) => text.includes('127.0.0.1'));
        assert.equal(told.length, 2, told.join('\n'));
        assert.match(told[0]!, /until then changes wait/);
      });
    }),
  ));

test.run();
