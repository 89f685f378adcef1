import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: what wait and join answer');
const MODES = { config: config('platform.modes.json') };

for (const [graph, input] of [
  ['agent', say('hi')],
  ['weather', say('SF')],
  ['chain', {}],
  ['shows', { draft: 'x' }],
  ['flow', { n: 2 }],
  ['steps', say('hi')],
] as const)
  test(`given the graph ${graph}, when its run is joined, then the answer is what its last values frame showed`, () =>
    withServer(MODES, async (s) => {
      for (const path of [`/threads/${await newThread(s)}/runs`, '/runs']) {
        const { text } = await s.request('POST', `${path}/stream`, {
          assistant_id: graph,
          input,
          stream_subgraphs: true,
        });
        const runId = /"run_id":"([^"]+)"/.exec(text)![1]!;
        const last = text.split('event: values\r\ndata: ').at(-1)!.split('\r\n')[0]!;
        const joined = await s.request('GET', `${path}/${runId}/join`);
        assert.deepEqual(joined.json, JSON.parse(last), path);
        assert.match(joined.text, /^\n/);
      }
    }));

test('given a workflow that returns nothing, when it is waited for, then the answer is an object all the same', () =>
  withServer(MODES, async (s) => {
    const body = { assistant_id: 'flow', input: { n: -1 } };
    assert.deepEqual((await s.request('POST', '/runs/wait', body)).json, {});
  }));

test('given a run whose frames are gone, when it is joined, then the answer is the same as ever', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const body = { assistant_id: 'pair', input: { seen: ['x'] } };
    const { json } = await s.request('POST', `/threads/${threadId}/runs/wait`, body);
    const [run] = await s.client.runs.list(threadId);
    const { run_id: runId } = run!;
    // As when their time is over.
    const forget = { kind: 'forget-frames', runId, threadId } as const;
    await s.server.log.commit({ commandId: crypto.randomUUID(), appends: [], payloads: [forget] });
    assert.equal(await s.server.log.payloads.lastFrame(runId), -1);
    assert.deepEqual(await s.client.runs.join(threadId, runId), json);
    await s.restart();
    assert.deepEqual(await s.client.runs.join(threadId, runId), json);
  }));

test.run();
