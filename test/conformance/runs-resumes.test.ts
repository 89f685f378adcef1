import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, startGated, textsOf } from './scene.ts';

const test = suite('conformance: answers to questions');

const TAKEN = {
  detail: 'No interrupt is open for this answer: it was answered already, or is being answered.',
};

async function asked(
  s: TestServer,
  graph: string,
  input: Record<string, unknown> = say('?'),
): Promise<string> {
  const threadId = await newThread(s);
  await s.client.runs.wait(threadId, graph, { input });
  return threadId;
}

for (const graph of ['asks', 'approve'])
  test(`given a question of ${graph}, when ten answer at the same time, then one is taken and nine are refused with 409 (X1)`, () =>
    withServer({}, async (s) => {
      for (const [route, strategy] of [
        ['', 'enqueue'],
        ['/wait', undefined],
        ['/stream', 'reject'],
      ] as const) {
        const threadId = await asked(s, graph);
        const path = `/threads/${threadId}/runs${route}`;
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            s.request('POST', path, {
              assistant_id: graph,
              command: { resume: `answer ${i}` },
              ...(strategy && { multitask_strategy: strategy }),
            }),
          ),
        );
        const won = answers.findIndex(({ status }) => status === 200);
        const refused = answers.filter((_, i) => i !== won);
        assert.deepEqual(
          refused.map(({ status }) => status),
          Array<number>(9).fill(409),
        );
        if (strategy !== 'reject') for (const { json } of refused) assert.deepEqual(json, TAKEN);
        // However late.
        assert.equal(
          (await s.request('POST', path, { assistant_id: graph, command: { resume: 'late' } })).status,
          409,
        );
        const runs = await s.client.runs.list(threadId);
        assert.equal(runs.length, 2);
        await s.client.runs.join(threadId, runs[0]!.run_id);
        const { values, status } = await s.client.threads.get(threadId);
        assert.equal(status, 'idle');
        assert.match(String(textsOf(values).at(-1)), new RegExp(`"answer ${won}"`));
      }
    }));

for (const graph of ['asks', 'approve'])
  test(`one of ten answers to ${graph} is taken while another run waits, and none that comes later (X1)`, () =>
    withServer({}, async (s) => {
      // given a question, and a run that starts much later
      const threadId = await asked(s, graph);
      const path = `/threads/${threadId}/runs`;
      const later = { assistant_id: graph, input: say('later'), after_seconds: 3600 };
      assert.equal((await s.request('POST', path, later)).status, 200);
      // when several answer it at the same time
      const answer = (resume: unknown, more: object = {}) =>
        s.request('POST', path, { assistant_id: graph, command: { resume }, ...more });
      const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => answer(`answer ${i}`)));
      const taken = answers.filter(({ status }) => status === 200);
      // then one of them is a run, and another answer is refused behind its end too
      assert.equal(taken.length, 1, JSON.stringify(answers.map(({ status }) => status)));
      for (const { status, json } of answers) if (status !== 200) assert.deepEqual(json, TAKEN);
      await s.client.runs.join(threadId, (taken[0]!.json as { run_id: string }).run_id);
      for (const resume of ['late', null, { ['0'.repeat(32)]: 'x' }])
        assert.deepEqual((await answer(resume)).json, TAKEN, JSON.stringify(resume));
      assert.equal((await s.client.runs.list(threadId)).length, 3);
    }));

for (const graph of ['asks', 'approve'])
  test(`null answers a question of ${graph} on every route, once`, () =>
    withServer({}, async (s) => {
      const answers = [{ resume: null }, { resume: null, update: null, goto: [] }];
      for (const route of ['', '/wait', '/stream'])
        for (const [command, strict_resume] of answers.flatMap((each) => [
          [each, false] as const,
          [each, true] as const,
        ])) {
          // given
          const threadId = await asked(s, graph);
          const path = `/threads/${threadId}/runs`;
          const body = { assistant_id: graph, command, strict_resume };
          // when
          assert.equal((await s.request('POST', path + route, body)).status, 200);
          // then
          const [run] = await s.client.runs.list(threadId);
          assert.match(String(textsOf(await s.client.runs.join(threadId, run!.run_id)).at(-1)), /null$/);
          const late = await s.request('POST', path + route, { ...body, strict_resume: false });
          assert.deepEqual([late.status, late.json], [409, TAKEN]);
        }
      // A thread that never asked takes no answer (D3).
      const plain = await newThread(s);
      await s.client.runs.wait(plain, 'echo', { input: say('a') });
      const before = (await s.events()).length;
      for (const route of ['', '/wait', '/stream']) {
        const body = { assistant_id: 'echo', command: { resume: 'yes' } };
        const { status, json } = await s.request('POST', `/threads/${plain}/runs${route}`, body);
        assert.deepEqual([status, json], [409, TAKEN], route);
      }
      assert.equal((await s.events()).length, before);
    }));

test('given two questions, when each is answered by its own at the same time, then both answers are taken', () =>
  withServer({ config: config('platform.states.json'), env: { PLATFORM_CONCURRENCY: '1' } }, async (s) => {
    const threadId = await asked(s, 'beside', { log: ['given'] });
    const thread = (await s.request('GET', `/threads/${threadId}`)).json;
    const ids = Object.values(thread.interrupts as Record<string, { id: string }[]>).flatMap((list) =>
      list.map(({ id }) => id),
    );
    assert.equal(ids.length, 2);
    const answer = (resume: object) =>
      s.request('POST', `/threads/${threadId}/runs`, { assistant_id: 'beside', command: { resume } });
    // No answer is executed before all of them are decided on.
    const other = await startGated(s, await newThread(s));
    const [one, two, again] = await Promise.all([
      answer({ [ids[0]!]: 'yes' }),
      answer({ [ids[1]!]: 'no' }),
      answer({ [ids[0]!]: 'late' }),
    ]);
    assert.deepEqual([one.status, two.status, again.status].sort(), [200, 200, 409]);
    assert.equal(two.status, 200);
    other.open();
    const runs = await s.client.runs.list(threadId);
    const values: any = await s.client.runs.join(threadId, runs[0]!.run_id);
    assert.equal(values.log.filter((line: string) => /^(first|second): /.test(line)).length, 2);
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
  }));

test('given an answer that is under way, when another takes its place by strategy, then that one counts', () =>
  withServer({}, async (s) => {
    for (const strategy of ['interrupt', 'rollback']) {
      const threadId = await asked(s, 'approve');
      const path = `/threads/${threadId}/runs`;
      const body = { assistant_id: 'approve', command: { resume: 'first' }, after_seconds: 3600 };
      const first = await s.request('POST', path, body);
      assert.equal(first.status, 200);
      assert.equal((await s.request('POST', path, body)).status, 409);
      const values = await s.request('POST', `${path}/wait`, {
        assistant_id: 'approve',
        command: { resume: 'second' },
        multitask_strategy: strategy,
      });
      assert.match(String(textsOf(values.json).at(-1)), /"second"/);
    }
  }));

test('given an answer with a key, when it is sent many times at once, then all are answered with its run (L4)', () =>
  withServer({}, async (s) => {
    const threadId = await asked(s, 'approve');
    const body = { assistant_id: 'approve', command: { resume: 'once' } };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        s.request('POST', `/threads/${threadId}/runs`, body, { 'idempotency-key': 'k' }),
      ),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ json }) => json.run_id)).size, 1);
    assert.equal((await s.client.runs.list(threadId)).length, 2);
  }));

for (const resume of ['old', false, null])
  test(`one of ten resumes with ${JSON.stringify(resume)} at an earlier checkpoint is taken (X1)`, () =>
    withServer({}, async (s) => {
      const threadId = await asked(s, 'approve');
      const { checkpoint } = await s.client.threads.getState(threadId);
      const past = { checkpoint: { checkpoint_id: checkpoint.checkpoint_id } };
      const path = `/threads/${threadId}/runs/wait`;
      const answer = (command: object, at: object = {}) =>
        s.request('POST', path, { assistant_id: 'approve', command, ...at });
      await s.client.runs.wait(threadId, 'approve', { input: say('again') });
      // Neither is the question at the head that of the past one.
      assert.equal((await answer({ resume: { ['0'.repeat(32)]: 'x' } }, past)).status, 409);
      assert.equal((await answer({ resume: 'head' })).status, 200);
      assert.equal((await answer({ resume: 'head' })).status, 409);
      const answers = await Promise.all(Array.from({ length: 10 }, () => answer({ resume }, past)));
      const taken = answers.filter(({ status }) => status === 200);
      assert.equal(taken.length, 1, JSON.stringify(answers.map(({ status }) => status)));
      assert.equal(textsOf(taken[0]!.json).at(-1), `The answer was ${JSON.stringify(resume)}`);
      for (const { status, json } of answers) if (status !== 200) assert.deepEqual(json, TAKEN);
      assert.equal((await answer({ resume: 'late' }, past)).status, 409);
      assert.equal((await s.client.runs.list(threadId)).length, 4);
    }));

test.run();
