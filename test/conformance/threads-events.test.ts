import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';

const test = suite('conformance: events of threads');

const STORY = { config: config('platform.story.json') };

async function get(s: TestServer, path: string): Promise<any> {
  const { status, json, text } = await s.request('GET', path);
  assert.equal(status, 200, text);
  return json;
}

const newThread = async (s: TestServer): Promise<string> => (await s.client.threads.create()).thread_id;
const versionsOf = ({ events }: any): number[] => events.map(({ version }: any) => version);

test('a thread tells its events in order of version, with the nodes of each step', () =>
  withServer(STORY, async (s) => {
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'story', { input: { topic: 'a', messages: 'find it' } });
    const { events, last } = await get(s, `/threads/${thread}/events`);
    assert.deepEqual(
      versionsOf({ events }),
      Array.from({ length: last }, (_, index) => index + 1),
    );
    const steps = events.filter(({ type }: any) => type === 'CheckpointSaved');
    assert.deepEqual(
      steps.map(({ nodes }: any) => nodes.join()),
      ['', '__start__', 'plan', 'look,look,look', '', '__start__', 'check', 'review', 'left,right'],
    );
    assert.ok(steps.every(({ made_at, at }: any) => made_at <= at));
    const [, created, started] = events;
    assert.deepEqual([created.type, created.title, created.graph_id], ['RunCreated', 'find it', 'story']);
    assert.deepEqual(created.kwargs.input, { topic: 'a', messages: 'find it' });
    assert.deepEqual([started.type, started.attempt], ['RunStarted', 1]);
    const end = events.at(-1);
    assert.deepEqual([end.type, end.outcome, end.next], ['RunCompleted', 'success', ['publish']]);
    assert.equal((Object.values(end.interrupts)[0] as any)[0].value, 'Shall I?');
  }));

test('steps of a plain function are named after its graph, and a failure tells its node and line', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'steps', { input: say('a') });
    await s.client.runs.wait(thread, 'fails', { input: say('b') }).catch(() => undefined);
    const { events } = await get(s, `/threads/${thread}/events`);
    const nodes = events
      .filter(({ source }: any) => source === 'loop')
      .map((event: any) => event.nodes.join());
    assert.deepEqual(new Set(nodes), new Set(['steps']));
    const { outcome, error } = events.at(-1);
    assert.deepEqual([outcome, error.node], ['error', 'fails']);
    assert.match(error.stack, /functions\.ts:\d+/);
  }));

test('events are paged from both ends', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'steps', { input: say('a') });
    const { events: all, last } = await get(s, `/threads/${thread}/events`);
    assert.ok(last >= 5);
    const page = async (query: string) => versionsOf(await get(s, `/threads/${thread}/events?${query}`));
    assert.deepEqual(await page('limit=2'), [1, 2]);
    assert.deepEqual(await page('after=2&limit=2'), [3, 4]);
    assert.deepEqual(await page(`before=${last + 1}&limit=2`), [last - 1, last]);
    assert.deepEqual(await page(`before=${last - 1}&limit=2`), [last - 3, last - 2]);
    assert.deepEqual(await page('before=1000000000&limit=1'), [last]);
    assert.deepEqual(await page('before=2&limit=5'), [1]);
    assert.deepEqual(await page('after=1&before=4'), [2, 3]);
    assert.deepEqual(await page('after=3&before=3'), []);
    assert.deepEqual(await page(`after=${last}`), []);
    // Both ends of the thread, walked page by page, have the same events.
    const forwards: number[] = [];
    for (let after = 0; after < last; after = forwards.at(-1)!)
      forwards.push(...(await page(`after=${after}&limit=3`)));
    const backwards: number[] = [];
    for (let before = last + 1; before > 1; before = backwards[0]!)
      backwards.unshift(...(await page(`before=${before}&limit=3`)));
    assert.deepEqual([forwards, backwards], [versionsOf({ events: all }), versionsOf({ events: all })]);
  }));

test('a malformed cursor is refused by its name, and an unknown thread is missing', () =>
  withServer({}, async (s) => {
    const url = `/threads/${await newThread(s)}`;
    for (const [query, name] of [
      ...[
        ['events?after=-1', 'after'],
        ['events?after=x', 'after'],
        ['events?before=0', 'before'],
      ],
      ...[
        ['events?before=1.5', 'before'],
        ['events?limit=0', 'limit'],
        ['events?limit=1001', 'limit'],
      ],
      ...[
        ['state?version=0', 'version'],
        ['state?version=v3', 'version'],
        ['state?from=1', 'version'],
      ],
      ...[
        ['state?version=1&from=-1', 'from'],
        ['state?version=1&from=2', 'from'],
      ],
    ]) {
      const { status, json } = await s.request('GET', `${url}/${query}` as '/');
      assert.equal(status, 422, query);
      assert.match(json.detail, new RegExp(`^${name}: expected [^\\n]+$`), query);
    }
    const unknown = await s.request('GET', `${url}/state?version=2`);
    const detail = 'Version 2 not found: the thread has the versions 1 to 1';
    assert.deepEqual([unknown.status, unknown.json], [404, { detail }]);
    for (const path of ['events', 'state?version=1'])
      assert.equal((await s.request('GET', `/threads/${MISSING}/${path}`)).status, 404);
  }));

test('events tell no secret, and of a deleted run only that its content was erased (A4, L3)', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const url = `/threads/${thread}`;
    await s.request('POST', `${url}/runs/wait`, {
      ...{ assistant_id: 'echo', input: say('canary-text'), metadata: { canary: 'canary-note' } },
      config: { configurable: { api_key: 'canary-key' } },
      webhook: 'http://127.0.0.1:1/?token=canary-token',
    });
    const before = JSON.stringify(await get(s, `${url}/events`));
    assert.doesNotMatch(before, /canary-(key|token)|lease|incarnation/);
    assert.match(before, /canary-text/);
    const [run] = await s.client.runs.list(thread);
    await s.client.runs.delete(thread, run!.run_id);
    const { events } = await get(s, `${url}/events`);
    assert.doesNotMatch(JSON.stringify(events), /canary/);
    const created = events.find(({ type }: any) => type === 'RunCreated');
    assert.deepEqual([created.erased, created.kwargs.input], [true, null]);
    const saved = events.find(({ type }: any) => type === 'CheckpointSaved');
    const state = await get(s, `${url}/state?version=${saved.version}&from=0`);
    assert.deepEqual([state.values, state.erased, state.changes], [null, true, []]);
    assert.deepEqual((await get(s, `${url}/state?version=${events.at(-1).version}`)).values, {});
  }));

test('the state at a version is that of the history, with its next nodes and questions', () =>
  withServer(STORY, async (s) => {
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'story', { input: { topic: 'a', messages: 'find it' } });
    await s.client.runs.wait(thread, 'story', { command: { resume: 'yes' } });
    const { events, last } = await get(s, `/threads/${thread}/events`);
    const history = await s.client.threads.getHistory(thread, { limit: 100 });
    const asked = events.find(({ type }: any) => type === 'RunCompleted').version;
    for (const { version, type, checkpoint_id: id, checkpoint_ns: ns } of events) {
      if (type !== 'CheckpointSaved' || ns !== '') continue;
      const state = await get(s, `/threads/${thread}/state?version=${version}`);
      const known = history.find(({ checkpoint }) => checkpoint.checkpoint_id === id)!;
      assert.deepEqual(
        [state.saved_at, state.checkpoint, state.parent_checkpoint],
        [version, known.checkpoint, known.parent_checkpoint],
      );
      assert.deepEqual(state.values, known.values, `version ${version}`);
      assert.deepEqual([...state.next].sort(), [...known.next].sort(), `version ${version}`);
      if (version < asked) assert.deepEqual(state.interrupts, []);
    }
    const question = await get(s, `/threads/${thread}/state?version=${asked}`);
    assert.deepEqual([question.next, question.interrupts[0].value], [['publish'], 'Shall I?']);
    const current = await s.client.threads.getState(thread);
    const end = await get(s, `/threads/${thread}/state?version=${last}`);
    assert.deepEqual([end.values, end.next, end.interrupts], [current.values, current.next, []]);
    const first = await get(s, `/threads/${thread}/state?version=1`);
    assert.deepEqual([first.values, first.checkpoint, first.saved_at, first.erased], [{}, null, null, false]);
  }));

test('each changed value names the version that wrote it', () =>
  withServer(STORY, async (s) => {
    const thread = await newThread(s);
    await s.client.runs.wait(thread, 'story', { input: { topic: 'a', messages: 'find it' } });
    const { events, last } = await get(s, `/threads/${thread}/events`);
    const changesOf = async (from: number, to: number) =>
      (await get(s, `/threads/${thread}/state?version=${to}&from=${from}`)).changes;
    const valuesAt = async (version: number) =>
      (await get(s, `/threads/${thread}/state?version=${version}`)).values;
    const found = await changesOf(0, last);
    assert.deepEqual(
      found.map(({ path }: any) => path).sort(),
      Object.keys(await valuesAt(last))
        .map((key) => `/${key}`)
        .sort(),
    );
    for (const { path, value, version } of found) {
      const key = path.slice(1);
      assert.deepEqual((await valuesAt(version))[key], value, path);
      assert.notDeepEqual((await valuesAt(version - 1))[key], value, path);
      assert.equal(events[version - 1].type, 'CheckpointSaved');
    }
    // A single step has written all that changed in it.
    const plan = events.find(({ nodes }: any) => nodes?.join() === 'plan').version;
    const step = await changesOf(plan - 1, plan);
    assert.ok(step.length > 0);
    assert.ok(step.every(({ version }: any) => version === plan));
  }));

test('changes are told place by place, with the values before and after', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const run = async (input: Record<string, unknown>): Promise<number> => {
      await s.client.runs.wait(thread, 'echo', { input });
      return (await get(s, `/threads/${thread}/events`)).last;
    };
    const from = await run({ ...say('a'), budget: { left: 900, 'a/b': [1, 2, 3] }, gone: 1 });
    const to = await run({ budget: { left: 740, 'a/b': [2, 3] }, gone: null });
    const { changes, more_changes } = await get(s, `/threads/${thread}/state?version=${to}&from=${from}`);
    assert.equal(more_changes, false);
    const told = changes.map(({ version: _, ...change }: any) => change);
    assert.deepEqual(
      told.filter(({ path }: any) => !path.startsWith('/messages')),
      [
        { op: 'replace', path: '/budget/left', value: 740, before: 900 },
        { op: 'remove', path: '/budget/a~1b/0', before: 1 },
        { op: 'replace', path: '/gone', value: null, before: 1 },
      ],
    );
    const input = changes[0].version;
    const { values } = await get(s, `/threads/${thread}/state?version=${input}`);
    assert.equal(values.budget.left, 740);
    assert.ok(input > from && input <= to);
  }));

test.run();
