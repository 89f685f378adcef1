import * as assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: runs that failed before anything was saved');
const UNSAVED = { config: config('platform.unsaved.json') };

/** A file that lets the functions fail while it is there. */
function block({ dir }: TestServer): string {
  const file = join(dir, 'blocked');
  writeFileSync(file, '');
  return file;
}

const wait = async (s: TestServer, threadId: string, graph: string, body: object) =>
  (await s.request('POST', `/threads/${threadId}/runs/wait`, { assistant_id: graph, ...body })).json;

test('a run without input goes on with that of a plain function that failed at its first call', () =>
  withServer(UNSAVED, async (s) => {
    const blocked = block(s);
    const threadId = await newThread(s);
    const failed = [
      await wait(s, threadId, 'words', { input: { text: 'one two three', blocked } }),
      await wait(s, threadId, 'words', { input: null }),
    ];
    rmSync(blocked);
    const values = await wait(s, threadId, 'words', { input: null });

    assert.deepEqual(
      failed.map(({ __error__ }) => __error__.message),
      ['blocked', 'blocked'],
    );
    assert.deepEqual(values, { text: 'one two three', blocked, count: 3 });
  }));

test('a run without input goes on with that of a failed later call, after a restart too', () =>
  withServer(UNSAVED, async (s) => {
    const threadId = await newThread(s);
    await wait(s, threadId, 'words', { input: { text: 'one' } });
    await s.restart();
    const blocked = block(s);
    const failed = await wait(s, threadId, 'words', { input: { text: 'one two', blocked } });
    rmSync(blocked);
    await s.restart();
    const values = await wait(s, threadId, 'words', { input: null });

    assert.equal(failed.__error__.message, 'blocked');
    assert.deepEqual(values, { text: 'one two', blocked, count: 2 });
  }));

test('a run without input goes on with that of a factory that could not make its graph', () =>
  withServer(UNSAVED, async (s) => {
    const configurable = { blocked: block(s) };
    const threadId = await newThread(s);
    const failed = await wait(s, threadId, 'maker', { input: say('hello'), config: { configurable } });
    rmSync(configurable.blocked);
    const values = await wait(s, threadId, 'maker', { input: null });

    assert.equal(failed.__error__.message, 'blocked');
    assert.deepEqual(textsOf(values), ['hello', 'echo: hello']);
  }));

test('a run without input on a thread without failed runs has none', () =>
  withServer(UNSAVED, async (s) => {
    const threadId = await newThread(s);
    const { __error__ } = await wait(s, threadId, 'chain', { input: null });
    assert.match(__error__.error, /EmptyInput/);
  }));

test.run();
