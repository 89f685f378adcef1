/** The last event of a run's stream. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread, say, startGated } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: ends of streams');

/** The last block of a stream that has ended. */
async function lastOf(url: string, body?: object): Promise<string> {
  const stream = await openStream(url, body === undefined ? {} : { body });
  await stream.rest();
  return stream.text().trimEnd().split('\r\n\r\n').at(-1)!;
}

for (const [graph, status] of [
  ['echo', 'success'],
  ['fails', 'error'],
] as const)
  test(`the stream of a run of ${graph} ends with its status, live, late and again (delta 3.7)`, () =>
    withServer({ config: config('platform.modes.json') }, async (s) => {
      // given
      const thread = await newThread(s);
      const path = `${s.url}/threads/${thread}/runs`;
      // when
      const live = await lastOf(`${path}/stream`, { assistant_id: graph, input: say('x') });
      const [run] = (await s.request('GET', `/threads/${thread}/runs`)).json;
      // then: without an id, after the error too
      const end = `event: end\r\ndata: ${JSON.stringify({ run_id: run.run_id, status })}`;
      assert.equal(live, end);
      assert.equal(await lastOf(`${path}/${run.run_id}/stream`), end);
      assert.equal(await lastOf(`${path}/${run.run_id}/stream?stream_mode=custom`), end);
      await s.restart();
      assert.equal(await lastOf(`${s.url}/threads/${thread}/runs/${run.run_id}/stream`), end);
    }));

for (const [action, status] of [
  ['interrupt', 'interrupted'],
  ['rollback', 'rollback'],
] as const)
  test(`the stream of a run that is stopped by ${action} ends with ${status} (delta 3.7)`, () =>
    withServer({}, async (s) => {
      const thread = await newThread(s);
      const { runId } = await startGated(s, thread);
      const last = lastOf(`${s.url}/threads/${thread}/runs/${runId}/stream`);
      await s.client.runs.cancel(thread, runId, true, action);
      assert.equal(await last, `event: end\r\ndata: ${JSON.stringify({ run_id: runId, status })}`);
    }));

test('the official client asks nothing more after the end of a stream (delta 3.7)', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const events: string[] = [];
    for await (const { event } of s.client.runs.stream(thread, 'echo', { input: say('x') }))
      events.push(event);
    assert.equal(events.at(-1), 'end');
    const { text } = await s.request('GET', '/metrics');
    assert.ok(!text.includes('method="GET",path="/threads/:thread_id/runs/:run_id"'));
  }));

test.run();
