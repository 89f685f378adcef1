import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunBody } from '../support/api-types.ts';
import { placesOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: secrets of users');

const AUTH = { config: config('platform.auth.json') };
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
/** What only the handler and graph code may ever see: the custom field, and the header it came for. */
const SECRETS = ['canary-secret-of-', '-token'];
const digest = (name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(`canary-secret-of-${name}`))
    .digest('hex');
const MODES = ['values', 'updates', 'messages-tuple', 'custom', 'events'];

function assertClean(text: string, where: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `${where} holds "${secret}"`);
}

test('given users with secrets, when graphs of all kinds run in all ways, then graph code has them and nothing else does (A4)', () =>
  withWebhookSink((sink) =>
    withServer(AUTH, async (s) => {
      const seen: string[] = [];
      const ask = async (method: string, path: string, body?: unknown) => {
        const answer = await s.request(method, path, body, as('alice'));
        seen.push(JSON.stringify([...answer.headers]), answer.text);
        return answer;
      };
      let webhooks = 0;
      for (const graph of ['sees', 'guarded', 'echo', 'steps', 'agent', 'asks', 'approve', 'fails']) {
        const { json } = await ask('POST', '/threads', {});
        const thread = `/threads/${json.thread_id}`;
        const body = {
          assistant_id: graph,
          input: say('hi'),
          stream_mode: MODES,
          stream_subgraphs: true,
          webhook: sink.url(),
          config: { tags: ['t'], configurable: { plain: 'text' } },
        };
        const streamed = await ask('POST', `${thread}/runs/stream`, body);
        await ask('GET', streamed.headers.get('location') ?? '');
        const waited = await ask('POST', `${thread}/runs/wait`, body);
        await ask('POST', '/runs/wait', body);
        await ask('POST', '/runs/stream', body);
        webhooks += 4;
        if (graph === 'sees')
          assert.deepEqual(
            [
              waited.json.identity,
              waited.json.secret,
              waited.json.alias,
              waited.json.user_id,
              waited.json.permissions,
            ],
            ['alice', digest('alice'), true, 'alice', ['alice:all']],
          );
        if (graph === 'guarded') assert.equal(waited.json.messages.at(-1).content, digest('alice'));
        for (const path of ['', '/state', '/state?subgraphs=1', '/runs'])
          await ask('GET', `${thread}${path}`);
      }
      await ask('GET', '/threads?limit=100');
      await ask('GET', '/assistants/sees');
      for (const { body, headers } of await sink.next(webhooks))
        seen.push(body.toString('utf8'), JSON.stringify(headers));
      seen.push(JSON.stringify(await s.events()));
      for (const [index, text] of seen.entries()) assertClean(text, `answer ${index}`);
      assert.ok(seen.join().includes('alice'));
      await s.stop();
      assert.deepEqual(await placesOf(s, ...SECRETS), []);
    }),
  ));

for (const graph of ['sees', 'guarded'])
  test(`given a queued run of ${graph}, when the server restarts before it begins, then it still has its own user's secret (X5, A4)`, () =>
    withServer(AUTH, async (s) => {
      const gate = join(s.dir, 'gate');
      const { thread_id: thread } = (await s.request('POST', '/threads', {}, as('bob'))).json;
      const post = (body: RunBody) => s.request('POST', `/threads/${thread}/runs`, body, as('bob'));
      const { json: first } = await post({
        assistant_id: 'guarded',
        input: say('first'),
        config: { configurable: { gate } },
      });
      const { json: second } = await post({ assistant_id: graph, input: say('second') });
      await s.until(({ type, data }) => type === 'RunStarted' && data.runId === first.run_id);
      await s.restart();
      writeFileSync(gate, '');
      const join_ = (id: string) =>
        s.request('GET', `/threads/${thread}/runs/${id}/join`, undefined, as('bob'));
      const resumed = (await join_(first.run_id)).json.messages.at(-1).content;
      assert.equal(resumed, digest('bob'));
      const { json } = await join_(second.run_id);
      assert.equal(graph === 'sees' ? json.secret : json.messages.at(-1).content, digest('bob'));
      await s.stop();
      assert.deepEqual(await placesOf(s, ...SECRETS), []);
    }));

test.run();
