import * as assert from 'uvu/assert';
import { suite } from '../support/suite.ts';
import { withServer, PROJECT } from '../support/with-server.ts';
import { newThread, say, textsOf, MISSING } from './scene.ts';
import type { RunBody } from '../support/api-types.ts';

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

test('given no such thread, when a run is created with if_not_exists, then create makes it and reject writes nothing (D3)', () =>
  withServer({}, async (s) => {
    const path = `/threads/${MISSING}/runs/wait`;
    const before = (await s.events()).length;
    for (const policy of [{}, { if_not_exists: 'reject' }, { if_not_exists: null }] as const)
      assert.is((await s.request('POST', path, { assistant_id: 'echo', ...policy })).status, 404);
    assert.is((await s.events()).length, before);
    const made = await s.request('POST', path, {
      assistant_id: 'echo',
      input: say('first'),
      metadata: { of: 'run' },
      if_not_exists: 'create',
    });
    assert.equal(textsOf(made.json), ['first', 'echo: first']);
    const { metadata } = await s.client.threads.get(MISSING);
    assert.equal([metadata!['of'], metadata!['graph_id']], ['run', 'echo']);
    const again = await s.request('POST', path, { assistant_id: 'echo', if_not_exists: 'create' });
    assert.is(again.status, 200);
  }));

for (const [strategy, accepted] of [
  ['enqueue', 20],
  ['reject', 1],
] as const)
  test(`given no such thread, when 20 runs create it at once with ${strategy}, then ${accepted} are accepted`, () => {
    // The handler holds each request, once the thread was found missing, until all twenty have got there.
    const auth = { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' };
    return withServer({ overrides: { auth } }, async (s) => {
      const body: RunBody = {
        assistant_id: 'echo',
        if_not_exists: 'create',
        multitask_strategy: strategy,
        after_seconds: 60,
      };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          s.request('POST', `/threads/${MISSING}/runs`, body, { 'x-verdict': 'gathers' }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      assert.is(statuses.filter((status) => status === 200).length, accepted, statuses.join());
      for (const { status, text } of answers)
        if (status !== 200) assert.match(`${status} ${text}`, /^409 .*already running a task/);
      const created = (await s.events()).filter(({ type }) => type === 'ThreadCreated');
      assert.is(created.length, 1);
    });
  });

test('given a checkpoint of an earlier run, when a run starts from it, then it continues there and not at the head', () =>
  withServer({}, async (s) => {
    for (const graph of ['echo', 'agent']) {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, graph, { input: say('one') });
      const { checkpoint } = await s.client.threads.getState(threadId);
      await s.client.runs.wait(threadId, graph, { input: say('two') });
      const { checkpoint_id: id } = checkpoint as { checkpoint_id: string };
      for (const from of [
        { checkpoint: { checkpoint_id: id, checkpoint_ns: '', checkpoint_map: null } },
        { checkpoint_id: id },
      ]) {
        const { json } = await s.request('POST', `/threads/${threadId}/runs/wait`, {
          assistant_id: graph,
          input: say('three'),
          ...from,
        });
        const texts = textsOf(json);
        assert.ok(texts.includes('one') && texts.includes('three') && !texts.includes('two'), texts.join());
      }
    }
  }));

test.run();
