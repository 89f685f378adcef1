import * as assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { ended, hastyClock, MORE, newThread, say, startGated, textsOf } from './scene.ts';
import { openStream, withoutComments } from './stream-reader.ts';

const test = suite('conformance: connections of streams');

/** Reads until `enough` says so; the connection stays open. */
async function readUntil(response: Response, enough: (text: string) => boolean): Promise<string> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!enough(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended after ${JSON.stringify(text)}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text;
}

const beats = (text: string): number => text.split(': heartbeat\r\n\r\n').length - 1;

test('a heartbeat is a block of its own with one comment line, which clients do not see', () =>
  withServer({ clock: hastyClock() }, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const path = `/threads/${threadId}/runs/${runId}/stream`;
    const response = await fetch(`${s.url}${path}`);
    const text = await readUntil(response, (sofar) =>
      /event: values.*(: heartbeat\r\n\r\n){3}$/s.test(sofar),
    );
    assert.match(text, /^(: heartbeat\r\n\r\n)+event: metadata\r\n.*\r\n(: heartbeat\r\n\r\n){3}$/s);
    open();
    const rest = await readUntil(
      response,
      (sofar) => /echo|through/.test(sofar) && sofar.endsWith('\r\n\r\n'),
    );
    assert.match(withoutComments(rest), /^event: values\r\n/);
    const parts: string[] = [];
    for await (const { event } of s.client.runs.joinStream(threadId, runId)) parts.push(event);
    assert.deepEqual([...new Set(parts)], ['metadata', 'values']);
  }));

test('given a reader that filters everything out, when the run is busy, then heartbeats still come', () =>
  withServer({ clock: hastyClock(), config: MORE }, async (s) => {
    const threadId = await newThread(s);
    const { json } = await s.request('POST', `/threads/${threadId}/runs`, {
      assistant_id: 'flood',
      input: {},
      stream_mode: ['custom', 'updates'],
      config: { configurable: { count: 100_000, size: 1, ms: 5 } },
    });
    const path = `/threads/${threadId}/runs/${json.run_id}/stream`;
    const response = await fetch(`${s.url}${path}?stream_mode=updates`);
    const text = await readUntil(response, (sofar) => beats(sofar) >= 6);
    assert.ok(!text.includes('custom'));
    await s.client.runs.cancel(threadId, json.run_id, true);
  }));

test('given a silent run, when it is waited for, then white space keeps the connection alive', () =>
  withServer({ clock: hastyClock() }, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const response = await fetch(`${s.url}/threads/${threadId}/runs/${runId}/join`);
    await readUntil(response, (text) => text.length >= 5 && text.trim() === '');
    open();
    const json = await readUntil(response, (text) => text.trim().endsWith('}'));
    assert.deepEqual(textsOf(JSON.parse(json)), ['gated', 'through: gated']);
  }));

/** Opens the reply that `route` gives for a new gated run, and leaves it. */
async function leaveReply(
  s: TestServer,
  route: string,
  fields: object,
): Promise<{ runId: string; threadId: string }> {
  const threadId = await newThread(s);
  const gate = join(s.dir, `gate-${threadId}`);
  const reader = await openStream(`${s.url}/threads/${threadId}/runs/${route}`, {
    body: { assistant_id: 'gate', input: say('hi'), config: { configurable: { gate } }, ...fields },
  });
  const runId = (reader.headers.get('content-location') ?? '').split('/').at(-1)!;
  await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === runId);
  reader.leave();
  return { runId, threadId };
}

for (const route of ['stream', 'wait'])
  test(`given on_disconnect, when the creator of runs/${route} leaves, then cancel ends the run and continue does not`, () =>
    withServer({}, async (s) => {
      const kept = [
        await leaveReply(s, route, {}),
        await leaveReply(s, route, { on_disconnect: 'continue' }),
      ];
      const { runId, threadId } = await leaveReply(s, route, { on_disconnect: 'cancel' });
      await s.until(ended(runId));
      assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
      // The one that left last was noticed, so the others were too.
      for (const run of kept)
        assert.equal((await s.client.runs.get(run.threadId, run.runId)).status, 'running');
    }));

for (const route of ['stream', 'join'])
  test(`given cancel_on_disconnect, when a reader of ${route} leaves, then 1 ends the run and 0 does not`, () =>
    withServer({}, async (s) => {
      const leave = async (query: string): Promise<{ threadId: string; runId: string }> => {
        const threadId = await newThread(s);
        const { runId } = await startGated(s, threadId);
        (await openStream(`${s.url}/threads/${threadId}/runs/${runId}/${route}${query}`)).leave();
        return { threadId, runId };
      };
      const kept = [
        await leave(''),
        await leave('?cancel_on_disconnect=0'),
        await leave('?cancel_on_disconnect=false'),
      ];
      const { runId, threadId } = await leave('');
      const path = `/threads/${threadId}/runs/${runId}/${route}?cancel_on_disconnect=1`;
      assert.equal((await s.request('HEAD', path)).status, 200);
      kept.push({ runId, threadId });
      const gone = await leave('?cancel_on_disconnect=1');
      await s.until(ended(gone.runId));
      for (const { threadId, runId } of kept)
        assert.equal((await s.client.runs.get(threadId, runId)).status, 'running');
    }));

test('given cancel_on_disconnect, when the server stops, then the run is not cancelled but goes on afterwards', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const path = `/threads/${threadId}/runs/${runId}/stream?cancel_on_disconnect=1`;
    const reader = await openStream(`${s.url}${path}`);
    const broken = assert.rejects(reader.rest());
    await s.restart();
    await broken;
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, runId)), ['gated', 'through: gated']);
  }));

test('given HEAD on a stream or a join, when it is answered, then it has no body and leaves the run alone', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    for (const route of ['stream', 'join', 'join?cancel_on_disconnect=0']) {
      const answer = await s.request('HEAD', `/threads/${threadId}/runs/${runId}/${route}`);
      assert.deepEqual([answer.status, answer.text], [200, '']);
    }
    open();
    assert.deepEqual(textsOf(await s.client.runs.join(threadId, runId)), ['gated', 'through: gated']);
  }));

test('given a connection that has asked for nothing yet, when the server stops, then it does not wait for it', () =>
  withServer({ overrides: { shutdownGraceMs: 600_000 } }, async (s) => {
    const { hostname, port } = new URL(s.url);
    const silent = connect(Number(port), hostname);
    await once(silent, 'connect');
    assert.equal((await s.request('GET', '/ok')).status, 200);
    const closed = once(silent, 'close');
    await s.stop();
    await closed;
  }));

test.run();
