/** Where this server is better than the official one and stays so: each test names a row of that list. */
import * as assert from 'node:assert/strict';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, ended, MISSING, newThread, say, startGated, textsOf } from './scene.ts';
import { ALL, isEnd, isRoot, openEvents } from './thread-stream.ts';

const test = suite('conformance: behaviour of its own');
const server = sharedServer(test, { config: config('platform.protocol.json') });

/** The answer, which must be a refusal that writes nothing. */
async function refusal(method: string, path: string, body?: object) {
  const s = server();
  const before = (await s.events()).length;
  const { status, json } = await s.request(method, path, body);
  assert.equal((await s.events()).length, before, `${method} ${path} ${JSON.stringify(body)}`);
  return [status, json.detail];
}

test('an answer where nothing waits is a 409 and no run (official 7, D3)', async () => {
  // given: a thread that never asked, and one whose question was answered
  const s = server();
  const [plain, answered] = [await newThread(s), await newThread(s)];
  await s.client.runs.wait(plain, 'echo', { input: say('a') });
  await s.client.runs.wait(answered, 'asks', { input: say('a') });
  await s.client.runs.wait(answered, 'asks', { command: { resume: 'yes' } });
  for (const [thread, graph] of [
    [plain, 'echo'],
    [answered, 'asks'],
  ])
    for (const route of ['runs', 'runs/wait', 'runs/stream']) {
      // when
      const body = { assistant_id: graph, command: { resume: 'yes' } };
      const [status, detail] = await refusal('POST', `/threads/${thread}/${route}`, body);
      // then
      assert.deepEqual([status, /^No interrupt is open/.test(detail)], [409, true], `${graph} ${route}`);
    }
});

test('unknown runs, checkpoints and assistants are a 404 (official 7)', async () => {
  const s = server();
  const thread = await newThread(s);
  await s.client.runs.wait(thread, 'echo', { input: say('a') });
  for (const [method, path, body] of [
    ['GET', `/threads/${thread}/runs/${MISSING}/join`],
    ['GET', `/threads/${thread}/state/${MISSING}`],
    ['POST', `/threads/${thread}/state/checkpoint`, { checkpoint: { checkpoint_id: MISSING } }],
    ['POST', `/threads/${thread}/runs`, { assistant_id: MISSING }],
    ['POST', `/threads/${thread}/runs/wait`, { assistant_id: 'nobody' }],
    ['POST', '/runs/stream', { assistant_id: MISSING }],
    ['POST', '/runs/crons', { assistant_id: MISSING, schedule: '0 0 1 1 *' }],
  ] as const) {
    const [status, detail] = await refusal(method, path, body);
    assert.deepEqual([status, typeof detail], [404, 'string'], `${method} ${path}`);
  }
});

test('stopping what has stopped is no error, one by one and in bulk (official 7, D3)', async () => {
  // given: no run of the server is open
  const s = server();
  const thread = await newThread(s);
  await s.client.runs.wait(thread, 'echo', { input: say('a') });
  const [run] = await s.client.runs.list(thread);
  // then
  const ids = { thread_id: thread, run_ids: [run!.run_id] };
  for (const [path, body, expected] of [
    [`/threads/${thread}/runs/${run!.run_id}/cancel`, undefined, 202],
    ['/runs/cancel', ids, 204],
    ['/runs/cancel', { status: 'all' }, 204],
    ['/runs/cancel', { status: 'pending' }, 204],
  ] as const) {
    const before = (await s.events()).length;
    assert.equal((await s.request('POST', path, body)).status, expected, path);
    assert.equal((await s.events()).length, before, path);
  }
  assert.equal((await s.client.runs.get(thread, run!.run_id)).status, 'success');
});

test('the webhook of a stateless run has its values, that of a run cancelled in the queue is sent (official 7)', () =>
  withWebhookSink(async (sink) => {
    const s = server();
    // given: a run without a thread, and one that is not due for an hour
    await s.client.runs.wait(null, 'echo', { input: say('stateless'), webhook: sink.url('/stateless') });
    const thread = await newThread(s);
    const later = { input: say('never'), afterSeconds: 3600, webhook: sink.url('/pending') };
    const { run_id: pending } = await s.client.runs.create(thread, 'echo', later);
    // when
    await s.client.runs.cancel(thread, pending, true);
    // then
    const sent = new Map(
      (await sink.next(2)).map(({ url, body }) => [url, JSON.parse(body.toString())] as const),
    );
    assert.deepEqual(textsOf(sent.get('/stateless').values), ['stateless', 'echo: stateless']);
    const { run_id: id, status } = sent.get('/pending');
    assert.deepEqual([id, status], [pending, 'interrupted']);
  }));

test('what could only fail in the run is a 422 of its request (official 7, D3)', async () => {
  const s = server();
  const thread = await newThread(s);
  for (const [body, field] of [
    [{ config: { recursion_limit: 0 } }, 'config.recursion_limit'],
    [{ command: {} }, 'command'],
    [{ command: { update: null, goto: null } }, 'command'],
  ] as const)
    for (const path of [`/threads/${thread}/runs`, `/threads/${thread}/runs/wait`, '/runs', '/runs/stream']) {
      const [status, detail] = await refusal('POST', path, { assistant_id: 'echo', ...body });
      assert.deepEqual([status, detail.startsWith(`${field}: `)], [422, true], `${path}: ${detail}`);
    }
});

test('NUL in texts is kept in inputs, states, metadata and items (official 7)', async () => {
  // given
  const s = server();
  const text = 'a\u0000b\u0000';
  const thread = await newThread(s, { metadata: { text } });
  // when
  await s.client.runs.wait(thread, 'echo', { input: say(text), metadata: { text } });
  await s.client.threads.updateState(thread, { values: { text }, asNode: 'echo' });
  await s.client.store.putItem(['nul'], 'item', { text });
  // then
  const { values } = await s.client.threads.getState(thread);
  assert.equal(textsOf(values)[0], text);
  assert.equal((values as { text: string }).text, text);
  const [run] = await s.client.runs.list(thread);
  assert.deepEqual([run!.metadata!['text'], (run as any).kwargs.input], [text, say(text)]);
  const found = await s.client.threads.search({ metadata: { text } });
  assert.deepEqual(
    found.map(({ thread_id: id, metadata }) => [id, metadata!['text']]),
    [[thread, text]],
  );
  assert.deepEqual((await s.client.store.getItem(['nul'], 'item'))!.value, { text });
});

test('a thread shows the values of each step while its run goes on (official 7)', async () => {
  // given: a thread with values
  const s = server();
  const thread = await newThread(s);
  await s.client.runs.wait(thread, 'echo', { input: say('before') });
  // when: a run has saved its input and waits
  const { runId, open } = await startGated(s, thread);
  // then
  const shown = await s.client.threads.get(thread);
  assert.deepEqual([shown.status, textsOf(shown.values).at(-1)], ['busy', 'gated']);
  open();
  await s.until(ended(runId));
});

test('a run of the runs API is on the thread stream, all questions before its end (official 7)', async () => {
  // given: a reader of a thread
  const s = server();
  const thread = await newThread(s);
  const reader = await openEvents(s, thread, { channels: ALL });
  // when: a run that asks twice is made without a command
  const { run_id: run } = await s.client.runs.create(thread, 'panel', { input: {} });
  const events = await reader.until(isEnd);
  reader.leave();
  // then: it is told from its beginning, and its end comes after both questions
  const begun = events.findIndex((event) => isRoot(event, 'running'));
  const asked = events.flatMap(({ method }, index) => (method === 'input.requested' ? [index] : []));
  assert.equal(asked.length, 2);
  assert.ok(begun >= 0 && begun < asked[0]!);
  assert.ok(events.at(-1)!.event_id.startsWith(`synth:${run}:`));
});

test.run();
