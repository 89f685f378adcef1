import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { userPlaceOf } from '../../src/kernel/stack.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { say } from './scene.ts';

const test = suite('conformance: failures');

const MODES = ['values', 'updates', 'messages', 'debug', 'tasks', 'checkpoints', 'events', 'custom'];

for (const workers of [0, 1])
  for (const [assistant_id, node, file] of [
    ['fails', 'fails', 'functions.ts'],
    ['breaks', 'bad', 'agent.ts'],
  ] as const)
    test(`the stack of "${assistant_id}" is in the log and in no reply (${workers} workers)`, () =>
      withWebhookSink((sink) =>
        withServer({ workers }, async (s) => {
          // given a run that fails, read in every way there is
          const thread = (await s.request('POST', '/threads', {})).json.thread_id as string;
          const at = `/threads/${thread}`;
          const body = { assistant_id, input: say('hi'), webhook: sink.url() };
          const streamed = await s.request('POST', `${at}/runs/stream`, {
            ...{ ...body, stream_mode: MODES, stream_subgraphs: true, stream_resumable: true },
          });
          assert.match(streamed.text, /^event: error$/m);
          const [run] = (await s.request('GET', `${at}/runs`)).json as { run_id: string }[];
          const replies = [streamed];
          for (const path of ['', '/runs', '/state', '/history'])
            replies.push(await s.request('GET', `${at}${path}`));
          for (const path of ['', '/join', '/stream'])
            replies.push(await s.request('GET', `${at}/runs/${run!.run_id}${path}`));
          replies.push(await s.request('POST', `${at}/runs/wait`, body));
          replies.push(await s.request('POST', '/threads/search', {}));
          replies.push(await s.request('GET', '/webhooks'));
          const [posted] = await sink.next(1);

          // then the terminal event says where it failed
          const completed = (await s.events()).find(({ type }) => type === 'RunCompleted');
          assert.ok(completed?.type === 'RunCompleted' && completed.data.outcome.kind === 'error');
          const { origin } = completed.data.outcome;
          assert.equal(origin?.node, node);
          assert.equal(userPlaceOf(origin?.stack ?? '')?.file, join(PROJECT, file));

          // and clients learn nothing of it
          for (const text of [...replies.map((reply) => reply.text), posted!.body.toString()])
            for (const secret of [PROJECT, file, 'at async', '"stack"', '"origin"'])
              assert.ok(!text.includes(secret), `${secret} in ${text}`);
        }),
      ));

test.run();
