import * as assert from 'uvu/assert';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: where a run starts');

test('given a thread with a conversation, when a run names a checkpoint that is not there, then 422 and nothing is lost', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const path = `/threads/${thread}/runs/wait`;
    const first = await s.request('POST', path, { assistant_id: 'agent', input: say('hi') });
    const events = (await s.events()).length;
    const missing = '11111111-1111-1111-8111-111111111111';
    const bodies = [
      { checkpoint_id: missing },
      { checkpoint: { checkpoint_id: missing } },
      { config: { configurable: { checkpoint_id: missing } } },
      { config: { configurable: { checkpoint_id: 7 } } },
      { checkpoint: { checkpoint_ns: 'z\u0000z' } },
    ];
    for (const body of bodies) {
      const answer = await s.request('POST', path, { assistant_id: 'agent', input: say('x'), ...body });
      assert.is(answer.status, 422, JSON.stringify(body));
      assert.match(answer.json.detail, /^checkpoint_(id|ns): /);
    }
    assert.is((await s.events()).length, events);
    assert.equal((await s.request('GET', `/threads/${thread}`)).json.values, first.json);
  }));

test('given a thread, when a run starts at one of its earlier checkpoints, then it goes on from there', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    const path = `/threads/${thread}/runs/wait`;
    await s.request('POST', path, { assistant_id: 'agent', input: say('first') });
    const { checkpoint } = (await s.request('GET', `/threads/${thread}/state`)).json;
    await s.request('POST', path, { assistant_id: 'agent', input: say('second') });
    const forked = await s.request('POST', path, {
      assistant_id: 'agent',
      input: say('third'),
      checkpoint_id: checkpoint.checkpoint_id,
    });
    const said = forked.json.messages
      .filter(({ type }: { type: string }) => type === 'human')
      .map(({ content }: { content: string }) => content);
    assert.equal(said, ['first', 'third']);
  }));

test('given a thread whose metadata names another graph, when its state is read, then it is that of the graph that ran', () =>
  withServer({}, async (s) => {
    const thread = await newThread(s);
    await s.request('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'agent', input: say('hi') });
    const before = (await s.request('GET', `/threads/${thread}/state`)).json;
    for (const graph_id of [5, 'nope', 'chain']) {
      await s.request('PATCH', `/threads/${thread}`, { metadata: { graph_id } });
      assert.equal((await s.request('GET', `/threads/${thread}/state`)).json, before);
    }
  }));

test.run();
