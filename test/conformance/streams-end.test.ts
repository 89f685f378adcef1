/** The last event of a run's stream. */
import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: ends of streams');

const MODES = { config: config('platform.modes.json') };

/** The configuration asks for `end` events. */
const withEnds = (s: TestServer): Promise<void> => s.restart({ http: { ...s.config.http, streamEnd: true } });

/** The last block of a stream that has ended. */
async function lastOf(url: string, body?: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, body && { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.text()).trimEnd().split('\r\n\r\n').at(-1)!;
}

for (const [graph, status] of [
  ['echo', 'success'],
  ['fails', 'error'],
] as const)
  test(`asked for, \`end\` tells the status of a run of ${graph}, live, late and again (delta 3.7)`, () =>
    withServer(MODES, async (s) => {
      // given
      const thread = await newThread(s);
      const path = `${s.url}/threads/${thread}/runs`;
      // when
      const live = await lastOf(`${path}/stream?stream_end=true`, { assistant_id: graph, input: say('x') });
      const [run] = (await s.request('GET', `/threads/${thread}/runs`)).json;
      // then: without an id, after the error too
      const end = `event: end\r\ndata: ${JSON.stringify({ run_id: run.run_id, status })}`;
      assert.equal(live, end);
      assert.equal(await lastOf(`${path}/${run.run_id}/stream?stream_end=true`), end);
      assert.equal(await lastOf(`${path}/${run.run_id}/stream?stream_mode=custom&stream_end=true`), end);
      await withEnds(s);
      assert.equal(await lastOf(`${s.url}/threads/${thread}/runs/${run.run_id}/stream`), end);
      assert.equal(await lastOf(`${s.url}/runs/${run.run_id}/stream`), end);
    }));

for (const [action, status] of [
  ['interrupt', 'interrupted'],
  ['rollback', 'rollback'],
] as const)
  test(`the \`end\` of a run that is stopped by ${action} tells ${status} (delta 3.7)`, () =>
    withServer({}, async (s) => {
      const thread = await newThread(s);
      const { runId } = await startGated(s, thread);
      const last = lastOf(`${s.url}/threads/${thread}/runs/${runId}/stream?stream_end=1`);
      await s.client.runs.cancel(thread, runId, true, action);
      assert.equal(await last, `event: end\r\ndata: ${JSON.stringify({ run_id: runId, status })}`);
    }));

test('no stream of a run ends with `end` unless it is asked for (delta 3.7)', () =>
  withServer(MODES, async (s) => {
    const body = { input: say('x') };
    const isFrame = /^event: (values|error)\r\ndata: .+\r\nid: \d+$/;
    for (const assistant_id of ['echo', 'fails']) {
      const thread = await newThread(s);
      const path = `${s.url}/threads/${thread}/runs`;
      assert.match(await lastOf(`${path}/stream`, { ...body, assistant_id }), isFrame);
      assert.match(await lastOf(`${s.url}/runs/stream`, { ...body, assistant_id }), isFrame);
      const [run] = (await s.request('GET', `/threads/${thread}/runs`)).json;
      for (const query of ['', '?stream_end=', '?stream_end=false'])
        assert.match(await lastOf(`${path}/${run.run_id}/stream${query}`), isFrame);
      assert.match(await lastOf(`${s.url}/runs/${run.run_id}/stream`), isFrame);
    }
    // The request overrides the configuration.
    await withEnds(s);
    const last = await lastOf(`${s.url}/runs/stream?stream_end=false`, { ...body, assistant_id: 'echo' });
    assert.match(last, isFrame);
  }));

test('the official client asks nothing more after an `end` (delta 3.7)', () =>
  withServer({}, async (s) => {
    await withEnds(s);
    const thread = await newThread(s);
    const events: string[] = [];
    for await (const { event } of s.client.runs.stream(thread, 'echo', { input: say('x') }))
      events.push(event);
    assert.equal(events.at(-1), 'end');
    const { text } = await s.request('GET', '/metrics');
    assert.ok(!text.includes('method="GET",path="/threads/:thread_id/runs/:run_id"'));
  }));

test.run();
