import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { toIdempotencyKey } from '../../src/http/runs/idempotency.ts';
import { config, leapingClock, newThread, say, startGated, textsOf } from './scene.ts';
import { openStream } from './stream-reader.ts';

const test = suite('conformance: requests that are sent again');

const KEY = '"8e03978e-40d5-43dd-bc93-6894a57f9324"';
const once = (key = KEY) => ({ 'idempotency-key': key });
const OTHER = { detail: 'Idempotency-Key: expected a key that no other request was sent with' };

const created = async (s: TestServer): Promise<string[]> =>
  (await s.events()).flatMap(({ type, data }) => (type === 'RunCreated' ? [data.runId] : []));
const idOf = (headers: Headers): string | undefined => headers.get('content-location')?.split('/').at(-1);

for (const at of ['a thread', 'no thread'])
  test(`given a run on ${at}, when its request comes again, in whatever form and after a restart, then it is that run (L4)`, () =>
    withServer({}, async (s) => {
      const base = at === 'a thread' ? `/threads/${await newThread(s)}/runs` : '/runs';
      const body = { assistant_id: 'echo', input: say('once'), on_completion: 'keep' };
      const first = await s.request('POST', base, body, once());
      assert.equal(first.status, 200, first.text);
      const runId = first.json.run_id;
      // Members in another order are the same body.
      const again = await s.request('POST', base, Object.fromEntries(Object.entries(body).reverse()), once());
      assert.deepEqual([again.status, again.json.run_id], [200, runId]);
      assert.equal(again.headers.get('content-location'), first.headers.get('content-location'));
      for (let start = 1; start <= 2; start++) {
        const waited = await s.request('POST', `${base}/wait`, body, once());
        assert.deepEqual(textsOf(waited.json), ['once', 'echo: once']);
        assert.equal(idOf(waited.headers), runId);
        const stream = await openStream(`${s.url}${base}/stream`, { body, headers: once() });
        const frames = await stream.rest();
        assert.deepEqual(
          frames.map(({ id }) => id),
          frames.map((_, index) => String(index)),
        );
        assert.deepEqual(frames[0]!.data, { run_id: runId, attempt: 1 });
        if (start === 1) await s.restart();
      }
      assert.deepEqual(await created(s), [runId]);
      const threads = (await s.events()).filter(({ type }) => type === 'ThreadCreated');
      assert.equal(threads.length, 1);
    }));

test('given a key, when another request has it, then that is refused with 422 and nothing happens (D3)', () =>
  withServer({}, async (s) => {
    const [one, two] = [await newThread(s), await newThread(s)];
    const body = { assistant_id: 'echo', input: say('mine') };
    await s.request('POST', `/threads/${one}/runs/wait`, body, once());
    const before = await s.events();
    const command = { id: 1, method: 'run.start', params: body };
    for (const [path, other] of [
      [`/threads/${one}/runs`, { ...body, input: say('other') }],
      [`/threads/${one}/runs/stream`, { ...body, metadata: {} }],
      [`/threads/${two}/runs`, body],
      ['/runs/wait', body],
      ['/runs/batch', [body]],
    ] as const) {
      const answer = await s.request('POST', path, other, once());
      assert.deepEqual([answer.status, answer.json], [422, OTHER], path);
    }
    const { json } = await s.request('POST', `/threads/${one}/commands`, command, once());
    assert.deepEqual([json.error, json.message], ['invalid_argument', OTHER.detail]);
    assert.deepEqual(await s.events(), before);
  }));

test('given a key that is none, when a run is asked for with it, then 422 names it, and nothing happens', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const body = { assistant_id: 'echo' };
    for (const key of ['', ' ', 'two words', 'x'.repeat(256), 'a\tb', 'caf\u00e9'])
      for (const path of [`/threads/${threadId}/runs`, '/runs/stream', '/runs/batch']) {
        const answer = await s.request('POST', path, path.endsWith('batch') ? [body] : body, once(key));
        const detail = 'Idempotency-Key: expected 1 to 255 visible ASCII characters';
        assert.deepEqual([answer.status, answer.json], [422, { detail }], `${path} ${key}`);
      }
    assert.deepEqual(await created(s), []);
    assert.equal((await s.request('POST', '/runs', body, once('x'.repeat(255)))).status, 200);
  }));

test('given one key, when fifty requests with it come at the same time, then all are answered with one run', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    for (const [base, strategy] of [
      [`/threads/${threadId}/runs`, 'reject'],
      [`/threads/${threadId}/runs`, 'interrupt'],
      ['/runs', 'enqueue'],
      ['/threads/01980000-0000-7000-8000-00000000abcd/runs', 'reject'],
    ]) {
      const body = { assistant_id: 'echo', multitask_strategy: strategy, if_not_exists: 'create' };
      const key = `${base}-${strategy}`;
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => s.request('POST', base!, body, once(key))),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.equal(new Set(answers.map(({ json }) => json.run_id)).size, 1, key);
    }
    assert.equal((await created(s)).length, 4);
  }));

test('given a request that was refused, when it comes again at a better time, then it is accepted', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const body = { assistant_id: 'echo', input: say('later'), multitask_strategy: 'reject' };
    const path = `/threads/${threadId}/runs/wait`;
    assert.equal((await s.request('POST', path, body, once())).status, 409);
    const wrong = await s.request('POST', path, { ...body, assistant_id: 'nobody' }, once());
    assert.equal(wrong.status, 404);
    open();
    await s.client.runs.join(threadId, runId);
    const accepted = await s.request('POST', path, body, once());
    assert.deepEqual(textsOf(accepted.json).slice(-2), ['later', 'echo: later']);
    // Busy again, with the request that comes once more.
    await startGated(s, await newThread(s));
    assert.equal(idOf((await s.request('POST', path, body, once())).headers), idOf(accepted.headers));
  }));

test('given a batch, when it comes again, then its runs are those of the first time, in order', () =>
  withServer({}, async (s) => {
    const batch = ['a', 'b', 'c'].map((text) => ({ assistant_id: 'echo', input: say(text) }));
    const ids = async (): Promise<string[]> =>
      (await s.request('POST', '/runs/batch', batch, once())).json.map(
        (run: { run_id: string }) => run.run_id,
      );
    const [first, second] = await Promise.all([ids(), ids()]);
    assert.deepEqual(second, first);
    await s.restart();
    assert.deepEqual(await ids(), first);
    assert.deepEqual((await created(s)).sort(), [...first].sort());
    const single = await s.request('POST', '/runs', batch[0], once());
    assert.deepEqual([single.status, single.json], [422, OTHER]);
  }));

test('given commands that start runs, when they come again, then they are answered with the same run', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const send = async (method: string, params: Record<string, unknown>, key: string) =>
      (await s.request('POST', `/threads/${threadId}/commands`, { id: 7, method, params }, once(key))).json
        .result;
    const start = () => send('run.start', { assistant_id: 'asks', input: say('?') }, 'start');
    const first = await start();
    await s.client.runs.join(threadId, first.run_id);
    assert.deepEqual(await start(), first);
    const { interrupts } = (await s.client.threads.get(threadId)) as { interrupts: Record<string, any[]> };
    const [{ id }] = Object.values(interrupts)[0] as [{ id: string }];
    const respond = () => send('input.respond', { interrupt_id: id, response: 'yes' }, 'respond');
    const answered = await respond();
    await s.client.runs.join(threadId, answered.run_id);
    // Nothing waits for this answer any more.
    assert.deepEqual(await respond(), answered);
    const { checkpoint } = await s.client.threads.getState(threadId);
    const params = { checkpoint_id: checkpoint.checkpoint_id, input: say('fork') };
    const fork = () => send('state.fork', params, 'fork');
    assert.deepEqual(await fork(), await fork());
    assert.equal((await created(s)).length, 3);
  }));

test('given a key of one user, when another sends the same, then it is new to the server and tells nothing (A3)', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const as = (name: string) => ({ authorization: `Bearer ${name}-token`, ...once() });
    const body = { assistant_id: 'echo', input: say('hello'), on_completion: 'keep' as const };
    const alices = await s.request('POST', '/runs', body, as('alice'));
    const bobs = await s.request('POST', '/runs', { ...body, input: say('bob') }, as('bob'));
    assert.deepEqual([alices.status, bobs.status], [200, 200]);
    assert.notEqual(bobs.json.run_id, alices.json.run_id);
    assert.equal((await s.request('POST', '/runs', body, as('alice'))).json.run_id, alices.json.run_id);
    // A thread that changed hands takes its runs along.
    const { thread_id: threadId } = (await s.request('POST', '/threads', {}, as('alice'))).json;
    const path = `/threads/${threadId}/runs/wait`;
    const key = { ...as('alice'), ...once('k') };
    await s.request('POST', path, body, key);
    await s.server.threads.dispatch(threadId, [{ type: 'UpdateThread', metadata: { owner: 'bob' } }]);
    const { status, json } = await s.request('POST', path, body, key);
    assert.deepEqual([status, json], [404, { detail: 'Run not found' }]);
  }));

test('a request whose run was rolled back, or ended with its temporary thread, is not executed again for a day', () => {
  const clock = leapingClock();
  return withServer({ clock }, async (s) => {
    const threadId = await newThread(s);
    const body = { assistant_id: 'echo', after_seconds: 3600, if_not_exists: 'create' } as const;
    const ask = () => s.request('POST', `/threads/${threadId}/runs`, body, once());
    const first = (await ask()).json.run_id;
    await s.client.runs.cancel(threadId, first, false, 'rollback');
    assert.deepEqual([(await ask()).status, (await ask()).json], [404, { detail: 'Run not found' }]);
    const wait = () => s.request('POST', '/runs/wait', { assistant_id: 'echo', input: {} }, once('w'));
    assert.equal((await wait()).status, 200);
    clock.leap(23 * 3_600_000);
    await s.until(({ type }) => type === 'ThreadDeleted');
    assert.deepEqual([(await ask()).status, (await wait()).status], [404, 404]);
    clock.leap(2 * 3_600_000);
    const { key } = toIdempotencyKey(KEY, { scopes: [] }, null)!;
    // Swept every minute, from the end of the sweep before.
    for (; (await s.server.log.payloads.request(key)) !== undefined; clock.leap(60_000))
      await s.client.threads.create();
    const { status, json } = await ask();
    assert.equal(status, 200);
    assert.notEqual(json.run_id, first);
  });
});

test.run();
