/** Parts of states: what is selected comes, and what is not is not read. */
import * as assert from 'node:assert/strict';
import type { ThreadStateSelectField } from '@langchain/langgraph-sdk';
import { bytesRead, figuresLacking } from '../support/process-figures.ts';
import { suite } from '../support/suite.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: parts of states');
const STATES = config('platform.states.json');
const MEMBERS = [
  ...['values', 'next', 'tasks', 'checkpoint', 'metadata', 'created_at', 'parent_checkpoint', 'interrupts'],
];

const UNKNOWN = `select.1: expected one of ${MEMBERS.join(', ')} or values.<key>, found "zzz"`;

type Ask = (s: TestServer, threadId: string, select: readonly string[]) => Promise<Answer>;
const query = (select: readonly string[]): string =>
  `?${select.map((name) => `select=${encodeURIComponent(name)}`).join('&')}`;

async function headOf(s: TestServer, threadId: string): Promise<string> {
  const [newest] = await s.client.threads.getHistory(threadId, { limit: 1, select: ['checkpoint'] });
  return newest!.checkpoint.checkpoint_id!;
}

/** Each answers with one state, the thread's newest. */
const ROUTES: Readonly<Record<string, Ask>> = {
  'GET state': (s, id, select) => s.request('GET', `/threads/${id}/state${query(select)}`),
  'GET state/{checkpoint_id}': async (s, id, select) =>
    s.request('GET', `/threads/${id}/state/${await headOf(s, id)}${query(select)}`),
  'POST state/checkpoint': async (s, id, select) =>
    s.request('POST', `/threads/${id}/state/checkpoint`, {
      checkpoint: { checkpoint_id: await headOf(s, id) },
      select: [...select],
    }),
  'POST history': async (s, id, select) => {
    const answer = await s.request('POST', `/threads/${id}/history`, { limit: 1, select: [...select] });
    return { ...answer, json: answer.json[0] };
  },
};

const only = (state: Record<string, unknown>, names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, state[name]]));

for (const [route, ask] of Object.entries(ROUTES))
  for (const graph of ['partial', 'asks'])
    test(`${route} of ${graph} answers the selected members and omits the others`, () =>
      withServer({ config: STATES }, async (s) => {
        // given: a thread that waits for an answer
        const threadId = await newThread(s);
        await s.client.runs.wait(threadId, graph, { input: say('hi') });
        const { json: whole } = await ask(s, threadId, []);
        assert.deepEqual(
          MEMBERS.filter((name) => !(name in whole)),
          [],
        );
        // then: each member alone, and several
        for (const name of MEMBERS)
          assert.deepEqual((await ask(s, threadId, [name])).json, only(whole, [name]), name);
        const several = ['next', 'created_at', 'tasks', 'values'];
        assert.deepEqual((await ask(s, threadId, several)).json, only(whole, several));
      }));

for (const [route, ask] of Object.entries(ROUTES))
  test(`${route} answers single keys of the values, whose names may have periods`, () =>
    withServer({ config: STATES }, async (s) => {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, 'partial', { input: {} });
      const { json: whole } = await ask(s, threadId, []);
      const told = async (...select: string[]) => (await ask(s, threadId, select)).json;
      assert.deepEqual(await told('values.a.b'), { values: { 'a.b': 'dotted' } });
      // A key that the state lacks is left out.
      assert.deepEqual(await told('values.a'), { values: {} });
      assert.deepEqual(await told('values.'), { values: {} });
      assert.deepEqual(await told('values.a.b', 'values.log', 'next'), only(whole, ['values', 'next']));
      assert.deepEqual(await told('values.a.b', 'values'), only(whole, ['values']));
    }));

test('a selected list is whole while a task of its step still waits', () =>
  withServer({ config: STATES }, async (s) => {
    // given: two tasks of one step, one of which has written to the list
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'partial', { input: {} });
    const { json: whole } = await s.request('GET', `/threads/${threadId}/state`);
    assert.deepEqual([whole.values.log, whole.next], [['begun', 'worked'], ['ask']]);
    // then: the list is added up where it is asked for, and what is done is known where it is not
    const told = async (...select: string[]) =>
      (await s.request('GET', `/threads/${threadId}/state${query(select)}`)).json;
    assert.deepEqual(await told('values.log'), { values: { log: ['begun', 'worked'] } });
    assert.deepEqual(await told('values.a.b', 'next'), { values: { 'a.b': 'dotted' }, next: ['ask'] });
    assert.deepEqual(await told('tasks'), { tasks: whole.tasks });
    assert.deepEqual(await told('interrupts'), { interrupts: whole.interrupts });
  }));

test('append-only channels are selected like others', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'delta', { input: { name: 'n' } });
    for (const [route, ask] of Object.entries(ROUTES)) {
      const { json: whole } = await ask(s, threadId, []);
      assert.deepEqual([...whole.values.log].sort(), ['a', 'b', 'c'], route);
      const { log } = whole.values;
      assert.deepEqual((await ask(s, threadId, ['values.log', 'next'])).json, { values: { log }, next: [] });
      assert.deepEqual((await ask(s, threadId, ['values.name'])).json, { values: { name: 'n' } });
    }
  }));

test('the states of subgraphs within selected tasks are whole', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'weather', { input: say('hi') });
    const path = `/threads/${threadId}/state?subgraphs=true`;
    const { json: whole } = await s.request('GET', path);
    assert.equal(whole.tasks[0].state.values.city, 'London');
    const { json } = await s.request('GET', `${path}&select=tasks&select=values.kind`);
    assert.deepEqual(json, { tasks: whole.tasks, values: { kind: 'weather' } });
    // In a namespace of its own the subgraph's state is the outermost.
    const checkpoint = { checkpoint_ns: whole.tasks[0].state.checkpoint.checkpoint_ns };
    for (const [select, expected] of [
      [['values.city'], { values: { city: 'London' } }],
      [['values.city', 'next'], { values: { city: 'London' }, next: ['look'] }],
    ]) {
      const inner = await s.request('POST', `/threads/${threadId}/state/checkpoint`, {
        checkpoint,
        select: select as string[],
      });
      assert.deepEqual(inner.json, expected);
    }
  }));

test('every state of a history is reduced to the selected members', () =>
  withServer({ config: STATES }, async (s) => {
    for (const graph of ['turns', 'echo']) {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, graph, { input: say('hi') });
      const whole = (await s.request('POST', `/threads/${threadId}/history`, { limit: 10 })).json;
      const select = ['values.messages', 'checkpoint', 'next'];
      const told = await s.request('POST', `/threads/${threadId}/history`, { limit: 10, select });
      assert.ok(whole.length > 1);
      assert.deepEqual(
        told.json,
        whole.map((state: any) => ({
          values: 'messages' in state.values ? { messages: state.values.messages } : {},
          ...only(state, ['checkpoint', 'next']),
        })),
      );
      const { json } = await s.request('GET', `/threads/${threadId}/history${query(select)}`);
      assert.deepEqual(json, told.json);
    }
  }));

test('a thread without a state answers the selected members of the empty one', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    const told = await s.request('GET', `/threads/${threadId}/state?select=values.a&select=metadata`);
    assert.deepEqual(told.json, { values: {}, metadata: null });
    const posted = await s.request('POST', `/threads/${threadId}/state/checkpoint`, { select: ['next'] });
    assert.deepEqual(posted.json, { next: [] });
  }));

test('select is repeated, a JSON list or a comma list in a query, and a list in a body', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('hi') });
    const path = `/threads/${threadId}/state`;
    const { json: whole } = await s.request('GET', path);
    for (const given of ['select=next&select=tasks', 'select=next,tasks', 'select=%5B"next","tasks"%5D'])
      assert.deepEqual((await s.request('GET', `${path}?${given}`)).json, { next: [], tasks: [] }, given);
    for (const given of ['?select=', ''])
      assert.deepEqual((await s.request('GET', path + given)).json, whole);
    for (const select of [null, []])
      assert.deepEqual((await s.request('POST', `${path}/checkpoint`, { select })).json, whole);
    for (const to of ['state/checkpoint', 'history']) {
      const refused = await s.request('POST', `/threads/${threadId}/${to}`, { select: 'next' });
      assert.deepEqual([refused.status, refused.json.detail], [422, 'select: expected a list of strings']);
      const number = await s.request('POST', `/threads/${threadId}/${to}`, { select: [1] });
      assert.deepEqual([number.status, number.json.detail], [422, 'select.0: expected a string']);
      const unknown = await s.request('POST', `/threads/${threadId}/${to}`, { select: ['next', 'zzz'] });
      assert.deepEqual([unknown.status, unknown.json.detail], [422, UNKNOWN]);
    }
    for (const to of ['state', `state/${await headOf(s, threadId)}`, 'history']) {
      const unknown = await s.request('GET', `/threads/${threadId}/${to}?select=next&select=zzz`);
      assert.deepEqual([unknown.status, unknown.json.detail], [422, UNKNOWN]);
    }
  }));

test('the official client selects in every way, and the server says that it can', () =>
  withServer({ config: STATES }, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: { ...say('hi'), kept: 1 } });
    const { threads } = s.client;
    const { checkpoint } = await threads.getState(threadId);
    const select: ThreadStateSelectField[] = ['values.kept', 'next'];
    const part = { values: { kept: 1 }, next: [] };
    assert.deepEqual(await threads.getState(threadId, undefined, { select }), part);
    assert.deepEqual(await threads.getState(threadId, checkpoint.checkpoint_id!, { select }), part);
    assert.deepEqual(await threads.getState(threadId, checkpoint, { select }), part);
    assert.deepEqual(await threads.getHistory(threadId, { limit: 1, select }), [part]);
    const { json } = await s.request('GET', '/info');
    assert.equal(json.flags.state_select, true);
  }));

for (const graph of ['wide', 'broad'])
  test(
    `of the 50 channels of ${graph} only the selected one is read from the disk`,
    () =>
      withServer({ config: STATES, workers: 0 }, async (s) => {
        // given: 20 MB of state that no cache holds
        const threadId = await newThread(s);
        await s.client.runs.wait(threadId, graph, { input: {}, durability: 'exit' });
        const other = await newThread(s);
        await s.client.runs.wait(other, 'echo', { input: {} });
        await s.restart();
        // Code is loaded by then.
        for (const ask of Object.values(ROUTES)) await ask(s, other, ['values.key7']);
        const cost = async (ask: () => Promise<Answer>) => {
          const before = bytesRead(process.pid);
          const { status, json } = await ask();
          assert.equal(status, 200);
          return { json, bytes: bytesRead(process.pid) - before };
        };
        // then: each route reads little for one channel
        for (const [route, ask] of Object.entries(ROUTES)) {
          const told = await cost(() => ask(s, threadId, ['values.key7', 'next']));
          assert.deepEqual(told.json, { values: { key7: 'key7'.padEnd(400_000, '.') }, next: [] }, route);
          assert.ok(told.bytes < 1_500_000, `${route} read ${told.bytes} bytes`);
        }
        const whole = await cost(() => s.request('GET', `/threads/${threadId}/state`));
        assert.equal(Object.keys(whole.json.values).length, 50);
        assert.ok(whole.bytes > 20_000_000, `all took ${whole.bytes} bytes`);
      }),
    { lacking: figuresLacking() },
  );

test.run();
