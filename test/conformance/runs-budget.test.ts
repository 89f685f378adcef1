import * as assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, newThread } from './scene.ts';

const test = suite('conformance: budgets of runs');

const withSpenders = (use: (s: TestServer) => Promise<void>): Promise<void> =>
  withServer({ config: config('platform.spends.json') }, use);

async function spend(s: TestServer, body: object): Promise<{ run: any; threadId: string }> {
  const threadId = await newThread(s);
  const created = await s.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: 'spends',
    ...body,
  } as any);
  assert.equal(created.status, 200, created.text);
  await s.request('GET', `/threads/${threadId}/runs/${created.json.run_id}/join` as any);
  const run = (await s.request('GET', `/threads/${threadId}/runs/${created.json.run_id}` as any)).json;
  return { run, threadId };
}

for (const durability of ['sync', 'async', 'exit'])
  for (const assistant_id of ['spends', 'inside'])
    test(`a run of "${assistant_id}" ends behind the step that reached a limit, with durability ${durability}`, () =>
      withSpenders(async (s) => {
        const limits = [
          [{ calls: 3 }, 3, 'The run used 3 of 3 calls'],
          [{ tokens: 31 }, 3, 'The run used 45 of 31 tokens'],
        ] as const;
        for (const [budget, calls, message] of limits) {
          const body = {
            assistant_id,
            input: { rounds: 20 },
            budget,
            durability,
            stream_mode: ['values', 'updates'],
          };
          const { run, threadId } = await spend(s, body);
          assert.equal(run.status, 'error');
          assert.deepEqual(run.error, { error: 'BudgetReached', message });
          assert.deepEqual(run.usage, { calls, input_tokens: 10 * calls, output_tokens: 5 * calls });
          const state = await s.client.threads.getState<any>(threadId, undefined, { subgraphs: true });
          const inner = state.tasks[0]?.state as any;
          assert.equal((assistant_id === 'inside' ? inner.values : state.values).said.length, calls);
          const frames = (await s.request('GET', `/threads/${threadId}/runs/${run.run_id}/stream` as any))
            .text;
          assert.match(frames, /event: error/);
          assert.equal(
            assistant_id === 'inside' || frames.includes('said 18'),
            true,
            'its last step is streamed',
          );
        }
      }));

test('given a run that reached its limit, when the thread is continued, then the run goes on where it ended', () =>
  withSpenders(async (s) => {
    const { threadId } = await spend(s, { input: { rounds: 4 }, budget: { calls: 3 } });
    const values = await s.client.runs.wait(threadId, 'spends', { input: null });
    assert.equal((values as any).said.length, 4);
  }));

test('given a run that ends in the step that reaches a limit, then it has succeeded', () =>
  withSpenders(async (s) => {
    const { run } = await spend(s, { input: { rounds: 3 }, budget: { calls: 3 } });
    assert.deepEqual([run.status, run.usage?.calls], ['success', 3]);
  }));

test('the smallest limit of request, assistant and deployment counts', () =>
  withSpenders(async (s) => {
    const { assistant_id } = await s.client.assistants.create({
      graphId: 'spends',
      config: { budget: { calls: 4, tokens: 1e6 } } as any,
    });
    const ended = async (body: object) =>
      (await spend(s, { assistant_id, input: { rounds: 100 }, ...body })).run;
    assert.equal((await ended({})).error.message, 'The run used 4 of 4 calls');
    assert.equal((await ended({ budget: { calls: 60 } })).error.message, 'The run used 4 of 4 calls');
    assert.equal(
      (await ended({ config: { budget: { calls: 2 } } })).error.message,
      'The run used 2 of 2 calls',
    );
    assert.equal(
      (await ended({ budget: { calls: 1 }, config: { budget: { calls: 2 } } })).error.message,
      'The run used 1 of 1 calls',
    );
    const { run } = await spend(s, {
      input: { rounds: 100 },
      budget: { tokens: 1e9 },
      config: { recursion_limit: 200 },
    });
    assert.equal(run.error.message, 'The run used 50 of 50 calls');
    assert.deepEqual(run.kwargs.config.budget, { tokens: 1e9, calls: 50 });
  }));

test('a plain function ends before it continues when its seconds are over', () =>
  withSpenders(async (s) => {
    const { run } = await spend(s, {
      assistant_id: 'waits',
      input: { rounds: 1_000 },
      budget: { seconds: 0.1 },
    });
    assert.deepEqual([run.status, run.error.error], ['error', 'BudgetReached']);
    assert.match(run.error.message, /^The run used 0\.\d of 0\.1 seconds$/);
  }));

const ANSWERS = {
  '/openai': { object: 'chat.completion', usage: { prompt_tokens: 10, completion_tokens: 5 } },
  '/anthropic': { type: 'message', usage: { input_tokens: 20, output_tokens: 5 } },
  '/gemini': { candidates: [], usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 5 } },
  '/silent': { object: 'chat.completion', choices: [] },
  '/weather': { degrees: 20 },
};

for (const assistant_id of ['wired', 'asks'])
  test(`answers of models on the wire count in the ${assistant_id === 'asks' ? 'function' : 'graph'} "${assistant_id}", other answers do not`, () =>
    withWebhookSink(async (models) =>
      withSpenders(async (s) => {
        models.otherwise(({ url }, reply) => {
          reply.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
          reply.end(gzipSync(JSON.stringify(ANSWERS[url as keyof typeof ANSWERS])));
        });
        const urls = Object.keys(ANSWERS).map((path) => models.url(path));
        const { run } = await spend(s, { assistant_id, input: { urls } });
        assert.deepEqual(run.usage, { calls: 4, input_tokens: 60, output_tokens: 15, unreported_calls: 1 });
        const limited = await spend(s, { assistant_id, input: { urls }, budget: { tokens: 40 } });
        assert.equal(limited.run.error.message, 'The run used 40 of 40 tokens');
        assert.equal(models.received.length, 5 + 2);
      }),
    ));

test('a webhook reports what the run used', () =>
  withWebhookSink(async (sink) =>
    withSpenders(async (s) => {
      await spend(s, { input: { rounds: 2 }, budget: { calls: 9 }, webhook: sink.url() });
      const [{ body }] = (await sink.next(1)) as any;
      assert.deepEqual(JSON.parse(body.toString()).usage, { calls: 2, input_tokens: 20, output_tokens: 10 });
    }),
  ));

test('anything but positive numbers is refused by name, in runs, assistants and crons', () =>
  withSpenders(async (s) => {
    const threadId = await newThread(s);
    const wrong: [unknown, string][] = [
      [{ tokens: 0 }, 'budget.tokens'],
      [{ tokens: -1 }, 'budget.tokens'],
      [{ tokens: '9' }, 'budget.tokens'],
      [{ calls: true }, 'budget.calls'],
      [{ seconds: [] }, 'budget.seconds'],
      [{ token: 3 }, 'budget'],
      [7, 'budget'],
    ];
    for (const [budget, name] of wrong) {
      const refusals = [
        ['POST', `/threads/${threadId}/runs`, { assistant_id: 'spends', budget }, name],
        ['POST', '/runs/wait', { assistant_id: 'spends', config: { budget } }, `config.${name}`],
        ['POST', '/assistants', { graph_id: 'spends', config: { budget } }, `config.${name}`],
        ['POST', '/runs/crons', { assistant_id: 'spends', schedule: '* * * * *', budget }, name],
      ] as const;
      for (const [method, path, body, place] of refusals) {
        const { status, text } = await s.request(method, path as any, body as any);
        assert.deepEqual(
          [status, text.includes(`${place}: expected`) || text.includes(`${place}:`)],
          [422, true],
          text,
        );
      }
    }
  }));

test.run();
