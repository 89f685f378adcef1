/** The React hook that is made of the events of a thread, in a browser's window, against the real server. */
import assert from 'node:assert/strict';
import type { useStream as UseStream } from '@langchain/react';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { openBrowserWith, type Browser } from './browser.ts';
import { config, ended, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: the React hook over the events of a thread');
const PROTOCOL = { config: config('platform.protocol.json') };
type Handle = ReturnType<typeof UseStream<{ messages: unknown[] }>>;
let browser: Browser<Handle>;

test.before(async () => {
  browser = await openBrowserWith(async () => {
    const { useStream } = await import('@langchain/react');
    return (options) => useStream(options as Parameters<typeof UseStream>[0]) as unknown as Handle;
  });
});
test.after(() => browser.close());

const optionsOf = (s: TestServer, assistantId: string, more: object = {}) => ({
  apiUrl: s.url,
  assistantId,
  ...more,
});

test('useStream.messages: given a page over events, when two things are submitted, then it shows what the thread has, twice', () =>
  withServer(PROTOCOL, async (s) => {
    const page = browser.open(optionsOf(s, 'agent'));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('hi') as never);
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 4);
    assert.deepEqual(page.texts(), ['hi', 'begin', 'tool_call__begin', 'end']);
    const { threadId } = page.stream;
    assert.deepEqual(textsOf((await s.client.threads.get(threadId!)).values), page.texts());
    void page.stream.submit(say('again') as never);
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 6);
    assert.equal(page.stream.threadId, threadId);
    assert.equal(page.stream.error, undefined);
    page.leave();
  }));

test('useStream.respond: given a page over events and a graph that asks, when the page answers, then the question is gone and the thread idle', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = await newThread(s);
    const page = browser.open(optionsOf(s, 'approve', { threadId }));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('do it') as never);
    await page.until(({ stream }) => !stream.isLoading && stream.interrupt !== undefined);
    assert.deepEqual(page.stream.interrupt!.value, { question: 'Shall I?' });
    void page.stream.respond('yes');
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 2);
    assert.deepEqual(page.texts(), ['do it', 'The answer was "yes"']);
    assert.equal(page.stream.interrupt, undefined);
    assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    page.leave();
  }));

test('useStream.subgraphs: given a page over events and graphs within graphs, when they run, then the page knows them and the calls of tools', () =>
  withServer(PROTOCOL, async (s) => {
    const page = browser.open(optionsOf(s, 'crew'));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('hi') as never);
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 5);
    assert.deepEqual(page.texts(), ['hi', '', '3', 'thought', 'done']);
    const places = [...page.stream.subgraphs.values()].map(({ namespace }) =>
      namespace.map((part) => part.split(':')[0]).join('/'),
    );
    assert.deepEqual(places, ['team', 'team/research']);
    assert.deepEqual(
      page.stream.toolCalls.map(({ name, output }) => [name, output]),
      [['add', '3']],
    );
    page.leave();
  }));

test('useStream.stop: given a page over events, when it stops its run, then the run ends as interrupted', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = await newThread(s);
    const page = browser.open(optionsOf(s, 'gate', { threadId }));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(
      say('wait') as never,
      {
        config: { configurable: { gate: `${s.dir}/never` } },
      } as never,
    );
    const { data } = await s.until(
      ({ type, data: fact }) => type === 'CheckpointSaved' && fact.threadId === threadId,
    );
    const { runId } = data as { runId: string };
    await page.until(({ texts }) => texts().length === 1);
    void page.stream.stop();
    await s.until(ended(runId));
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
    await page.until(({ stream }) => !stream.isLoading);
    page.leave();
  }));

test('useStream.error: given a page over events and a graph that fails, when it is submitted to, then the page has the error', () =>
  withServer(PROTOCOL, async (s) => {
    const page = browser.open(optionsOf(s, 'breaks'));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('hi') as never);
    await page.until(({ stream }) => !stream.isLoading && stream.error !== undefined);
    assert.match(String(page.stream.error), /the node broke/);
    page.leave();
  }));

test('useStream.threadId: given a conversation, when a page over events is loaded anew, then it shows what was said', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'agent', { input: say('hi') });
    const page = browser.open(optionsOf(s, 'agent', { threadId }));
    await page.until(({ stream, texts }) => !stream.isThreadLoading && texts().length === 4);
    assert.deepEqual(page.texts(), ['hi', 'begin', 'tool_call__begin', 'end']);
    assert.equal(page.stream.isLoading, false);
    page.leave();
  }));

test.run();
