import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated } from './scene.ts';
import { command } from './thread-stream.ts';

const test = suite('conformance: ids of requests');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const idOf = (run: any): unknown => run.kwargs.config.configurable.langgraph_request_id;
const loggedFor = (s: TestServer, runId: string): unknown =>
  s.entries.find(({ members }) => members['run_id'] === runId && 'request_id' in members)?.members[
    'request_id'
  ];

test('a run has the x-request-id of its request as langgraph_request_id, and its log line too (official 2.3)', () =>
  withServer({ config: config('platform.modes.json') }, async (s) => {
    const threadId = await newThread(s);
    const body = { assistant_id: 'tells', input: {} };
    const { json: run } = await s.request('POST', `/threads/${threadId}/runs`, body, {
      'x-request-id': 'r-1',
    });
    assert.equal(idOf(run), 'r-1');
    await s.until(ended(run.run_id));
    assert.equal(loggedFor(s, run.run_id), 'r-1');
    // Checkpoints say nothing of it.
    const { metadata, values } = await s.client.threads.getState<{ told: any }>(threadId);
    assert.equal(values.told.configurable.langgraph_request_id, 'r-1');
    assert.doesNotMatch(JSON.stringify(metadata), /r-1|request_id/);
    const headers = { 'x-request-id': 'r-2' };
    const { result } = await command(
      s,
      threadId,
      'run.start',
      { assistant_id: 'echo', input: say('x') },
      headers,
    );
    assert.equal(idOf(await s.client.runs.get(threadId, result.run_id)), 'r-2');
  }));

test('without the header the id is a UUID of the request, whatever the client put there (official 2.3)', () =>
  withServer({}, async (s) => {
    const order = { assistant_id: 'echo', input: say('hi') };
    const posing = { ...order, config: { configurable: { langgraph_request_id: 'mine' } } };
    const { json: runs } = await s.request('POST', '/runs/batch', [order, posing], {
      'x-request-id': 'two words',
    });
    assert.match(String(idOf(runs[0])), UUID);
    assert.equal(idOf(runs[1]), idOf(runs[0]));
    const threadId = await newThread(s);
    const [one, two] = [await startGated(s, threadId), await newThread(s)];
    const other = await startGated(s, two);
    const ids = await Promise.all([
      s.client.runs.get(threadId, one.runId).then(idOf),
      s.client.runs.get(two, other.runId).then(idOf),
    ]);
    assert.notEqual(ids[0], ids[1]);
    // A run that outlives the process that accepted it keeps the id.
    await s.restart();
    one.open();
    // The line of such a run follows when its row is read.
    await until('the line of the run', async () => loggedFor(s, one.runId) === ids[0]);
    other.open();
    await s.until(ended(other.runId));
  }));

test.run();
