import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunBody } from '../support/api-types.ts';
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

/** Every byte that the server left behind. */
function assertCleanFiles(dir: string): void {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 0);
  for (const { parentPath, name } of files) assertClean(readFileSync(join(parentPath, name), 'latin1'), name);
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
      assertCleanFiles(s.dir);
    }),
  ));

test('given runs of a user, when they wait, then their secret lies in a row of its own, which every kind of end erases (A4)', () =>
  withServer(AUTH, async (s) => {
    const secretOf = (runId: string) => s.server.log.payloads.secret(runId);
    const post = async (path: string, body: object) =>
      (await s.request('POST', path, body, as('alice'))).json;
    const create = async (thread: string, more: object): Promise<string> =>
      (await post(`/threads/${thread}/runs`, { assistant_id: 'gate', ...more })).run_id;
    const [a, b, c] = [
      (await post('/threads', {})).thread_id,
      (await post('/threads', {})).thread_id,
      (await post('/threads', {})).thread_id,
    ] as [string, string, string];
    const gate = join(s.dir, 'gate');
    const open = { config: { configurable: { gate } } };
    const runs = {
      running: await create(a, open),
      delayed: await create(b, { after_seconds: 3600 }),
      deleted: await create(c, open),
    };
    for (const [name, id] of Object.entries(runs))
      assert.deepEqual(JSON.parse((await secretOf(id))!).user.identity, 'alice', name);
    const refused = await s.request(
      'POST',
      `/threads/${a}/runs`,
      { assistant_id: 'echo', multitask_strategy: 'reject' },
      as('alice'),
    );
    assert.equal(refused.status, 409);

    const rolledBack = await create(a, { multitask_strategy: 'interrupt', after_seconds: 3600 });
    await s.request(
      'POST',
      `/threads/${a}/runs/${rolledBack}/cancel?wait=1&action=rollback`,
      undefined,
      as('alice'),
    );
    await s.request('GET', `/threads/${a}/runs/${runs.running}/join`, undefined, as('alice'));
    await s.request('POST', `/threads/${b}/runs/${runs.delayed}/cancel?wait=1`, undefined, as('alice'));
    await s.request('DELETE', `/threads/${c}`, undefined, as('alice'));
    for (const id of [...Object.values(runs), rolledBack]) assert.equal(await secretOf(id), undefined);
    await s.stop();
    assertCleanFiles(s.dir);
  }));

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
      assertCleanFiles(s.dir);
    }));

test.run();
