import * as assert from 'node:assert/strict';
import type { Entry } from '../../src/observe/entry.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, leapingClock, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: activity in the log');

const said = (s: TestServer, message: string): Entry[] =>
  s.entries.filter((entry) => entry.message === message);

test('the end of a run names its user and its request, and no secret of either (A4)', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const headers = {
      authorization: 'Bearer alice-token',
      'x-request-id': 'request-7',
      'x-session-token': 'canary-in-a-header',
    };
    const body = { assistant_id: 'sees', input: say('canary-in-the-input') };
    await s.request('POST', '/runs/wait', body, headers);
    await s.until(({ type }) => type === 'RunCompleted');
    const [entry] = said(s, 'run ended');
    assert.ok(entry);
    const { level, members } = entry;
    const {
      run_queue_ms,
      run_exec_ms,
      run_wait_time_ms,
      assistant_id,
      thread_id,
      run_id,
      request_id,
      ...rest
    } = members;
    assert.equal(level, 'info');
    const { checkpoints, ...told } = rest;
    assert.deepEqual(told, { graph_id: 'sees', run_attempt: 1, user: 'alice', outcome: 'success' });
    assert.ok(Number(checkpoints) > 0);
    for (const each of [run_queue_ms, run_exec_ms, run_wait_time_ms]) assert.equal(typeof each, 'number');
    for (const each of [assistant_id, thread_id, run_id]) assert.equal(typeof each, 'string');
    assert.equal(request_id, 'request-7');
    assert.doesNotMatch(JSON.stringify(s.entries), /canary|alice-token/);
  }));

test('times in the log are those of the facts', () => {
  const clock = leapingClock();
  return withServer({ clock }, async (s) => {
    const { runId, open } = await startGated(s, await newThread(s), { after_seconds: 0 });
    clock.leap(700);
    open();
    await s.until(ended(runId));
    const [entry] = said(s, 'run ended');
    assert.deepEqual(
      ['run_queue_ms', 'run_exec_ms', 'run_wait_time_ms'].map((name) => entry?.members[name]),
      [0, 700, 0],
    );
  });
});

test('a failed webhook attempt and a fired cron are in the log', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    return withServer({ clock }, async (s) => {
      sink.otherwise(500);
      await s.request('POST', '/runs/crons', {
        ...{
          assistant_id: 'echo',
          schedule: '* * * * *',
          input: say('tick'),
          webhook: sink.url('/?canary=1'),
        },
      });
      clock.leap(60_000);
      await s.until(({ type }) => type === 'WebhookAttemptFailed');
      const [fired] = said(s, 'cron fired');
      assert.equal(fired?.members['slot'], '2026-01-01T00:01:00.000000+00:00');
      const [failed] = said(s, 'webhook attempt failed');
      assert.deepEqual([failed?.level, failed?.members['status']], ['warn', 500]);
      assert.doesNotMatch(JSON.stringify(s.entries), /canary/);
    });
  }));

test('a stop names the runs that it hands back', () =>
  withServer({ overrides: { drainMs: 0 } }, async (s) => {
    const { runId, open } = await startGated(s, await newThread(s));
    await s.restart();
    assert.deepEqual(said(s, 'stopped')[0]?.members, { runs_handed_back: [runId] });
    open();
    await s.until(ended(runId));
    // The run was created before this process started.
    while (said(s, 'run ended').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(said(s, 'run ended')[0]?.members['graph_id'], 'gate');
  }));

test.run();
