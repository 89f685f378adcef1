import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MORE, newThread, startGated } from './scene.ts';
import { answer, asked, notPending, questionsOf, refused, standing, STRANGE } from './strict-scene.ts';

const test = suite('conformance: late and early strict answers');

const NONE_OPEN = refused(
  'not_pending',
  'No interrupt is open for this answer: it was answered already, or is being answered',
  [],
  [],
);

for (const [graph, project] of [
  ['asks', {}],
  ['approve', {}],
  ['nested', { config: MORE }],
] as const)
  test(`one strict value passes while a question of ${graph} waits; where none waits it is refused as by default`, () =>
    withServer(project, async (s) => {
      // given: a late answer
      const threadId = await asked(s, graph);
      assert.equal('__error__' in (await answer(s, threadId, graph, 'yes')), false);
      const before = await standing(s, threadId);
      // when
      assert.deepEqual(await answer(s, threadId, graph, 'again'), { __error__: NONE_OPEN });
      // then
      assert.deepEqual(await standing(s, threadId), before);
      assert.equal(await lenient(s, threadId, graph, 'again'), 409);
      // given: early answers, on a thread without a run
      const empty = await newThread(s);
      assert.equal(await lenient(s, empty, graph, 'early'), 409);
      assert.deepEqual(await answer(s, empty, graph, 'early'), { __error__: NONE_OPEN });
      const strange = await answer(s, empty, graph, { [STRANGE[0]]: 1 });
      assert.deepEqual(strange, { __error__: notPending([STRANGE[0]], []) });
      assert.equal((await s.client.threads.get(empty)).status, 'idle');
    }));

/** The status for an answer that is not strict. */
const lenient = async (s: TestServer, threadId: string, graph: string, resume: any): Promise<number> =>
  (await s.request('POST', `/threads/${threadId}/runs`, { assistant_id: graph, command: { resume } })).status;

test('of two strict values to one question the second is refused, also when another question follows (X1)', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    for (const graph of ['twice', 'survey']) {
      const threadId = await asked(s, graph, {});
      const ends = await Promise.all(['one', 'two'].map((word) => answer(s, threadId, graph, word)));
      const lost = ends.find((end) => '__error__' in end);
      const [id] = (await questionsOf(s, threadId)) as [string];
      assert.deepEqual(lost, { __error__: { ...NONE_OPEN, pending_ids: [id] } });
      assert.equal(ends.filter((end) => '__interrupt__' in end).length, 1, JSON.stringify(ends));
      assert.equal((await s.client.threads.get(threadId)).status, 'interrupted');
    }
  }));

test('a strict value behind a run under way is refused when that run has asked nothing', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const under = await startGated(s, threadId);
    const early = answer(s, threadId, 'gate', 'early');
    await s.until(({ type, data }) => type === 'RunCreated' && data.runId !== under.runId);
    under.open();
    assert.deepEqual(await early, { __error__: NONE_OPEN });
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
  }));

test.run();
