import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated, textsOf } from './scene.ts';
import { openBrowser, type Browser } from './browser.ts';

const test = suite('conformance: the React hook');
const MODES = { config: config('platform.modes.json') };
let browser: Browser;

test.before(async () => {
  browser = await openBrowser();
});
test.after(() => browser.close());

const optionsOf = (s: TestServer, assistantId: string, more: object = {}) => ({
  apiUrl: s.url,
  assistantId,
  ...more,
});

test('useStream.submit: given a page, when something is submitted, then a thread is made and letters appear one by one', () =>
  withServer(MODES, async (s) => {
    let threadId = '';
    const page = browser.open(optionsOf(s, 'agent', { onThreadId: (id: string) => (threadId = id) }));
    await page.until(({ stream }) => !stream.isLoading);
    void page.stream.submit(say('hi'));
    await page.until(({ stream }) => stream.isLoading);
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 4);
    assert.deepEqual(page.texts(), ['hi', 'begin', 'tool_call__begin', 'end']);
    for (const part of ['begi', 'begin', 'en'])
      assert.ok(page.lastTexts.includes(part), `${part} of ${page.lastTexts.join()}`);
    assert.deepEqual(textsOf((await s.client.threads.get(threadId)).values), page.texts());
    void page.stream.submit(say('again'));
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 6);
    assert.equal(page.stream.error, undefined);
    page.leave();
  }));

for (const fetchStateHistory of [true, false])
  test(`useStream.interrupt: an interrupt is shown and resumed, history ${fetchStateHistory ? 'kept' : 'not kept'}`, () =>
    withServer(MODES, async (s) => {
      const threadId = await newThread(s);
      const page = browser.open(optionsOf(s, 'approve', { threadId, fetchStateHistory }));
      await page.until(({ stream }) => !stream.isThreadLoading);
      void page.stream.submit(say('do it'));
      await page.until(({ stream }) => !stream.isLoading && stream.interrupt !== undefined);
      assert.deepEqual(page.stream.interrupt!.value, { question: 'Shall I?' });
      void page.stream.submit(undefined, { command: { resume: 'yes' } });
      await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 2);
      assert.deepEqual(page.texts(), ['do it', 'The answer was "yes"']);
      assert.equal(page.stream.interrupt, undefined);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
      page.leave();
    }));

test('useStream.stop: given a run, when the page stops it, then the run ends as interrupted', () =>
  withServer(MODES, async (s) => {
    for (const reconnectOnMount of [false, true]) {
      const threadId = await newThread(s);
      const page = browser.open(optionsOf(s, 'gate', { threadId, reconnectOnMount }));
      await page.until(({ stream }) => !stream.isThreadLoading);
      void page.stream.submit(say('wait'), { config: { configurable: { gate: `${s.dir}/never` } } });
      const { data } = await s.until(
        (event) => event.type === 'CheckpointSaved' && event.data.threadId === threadId,
      );
      const { runId } = data as { runId: string };
      await page.until(({ texts }) => texts().length === 1);
      void page.stream.stop();
      await s.until(ended(runId));
      assert.equal((await s.client.runs.get(threadId, runId)).status, 'interrupted');
      await page.until(({ stream }) => !stream.isLoading);
      page.leave();
    }
  }));

test('useStream.joinStream: given a page that is loaded anew, when its run goes on, then it is joined from its beginning', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const options = optionsOf(s, 'steps', { threadId, reconnectOnMount: true });
    const gate = `${s.dir}/gate`;
    const first = browser.open(options);
    await first.until(({ stream }) => !stream.isThreadLoading);
    void first.stream.submit(say('go'), { config: { configurable: { gate, count: 2 } } });
    await first.until(({ texts }) => texts().length === 1);
    first.leave();
    const { writeFileSync } = await import('node:fs');
    const second = browser.open(options);
    await second.until(({ stream, texts }) => stream.isLoading && texts().length === 1);
    for (const step of [1, 2]) writeFileSync(`${gate}${step}`, '');
    await second.until(({ stream, texts }) => !stream.isLoading && texts().length === 3);
    assert.deepEqual(second.texts(), ['go', 'step 1', 'step 2']);
    assert.equal((await s.client.runs.list(threadId)).length, 1);
    assert.equal(browser.window.sessionStorage.length, 0);
    second.leave();
  }));

test('useStream.error: given a graph that fails, when it is submitted to, then the page has the error and the thread too', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const page = browser.open(optionsOf(s, 'breaks', { threadId }));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('hi'));
    await page.until(({ stream }) => !stream.isLoading && stream.error !== undefined);
    assert.match(String(page.stream.error), /the node broke/);
    page.leave();
  }));

test('useStream.history: given a conversation, when an earlier message is said anew, then the thread has two branches', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const page = browser.open(optionsOf(s, 'agent', { threadId, fetchStateHistory: true }));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('one'));
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 4);
    await page.until(({ stream }) => stream.history.length === 5);
    const [said] = page.stream.messages;
    const seen = page.stream.getMessagesMetadata(said as never)!.firstSeenState!;
    void page.stream.submit(say('two'), { checkpoint: seen.parent_checkpoint ?? null });
    await page.until(({ stream, texts }) => !stream.isLoading && texts()[0] === 'two');
    await page.until(({ stream }) => stream.history.length > 5 && !stream.isThreadLoading);
    assert.deepEqual(page.texts(), ['two', 'begin', 'tool_call__begin', 'end']);
    const metadata = page.stream.getMessagesMetadata(page.stream.messages[0] as never)!;
    assert.equal(metadata.branchOptions!.length, 2);
    page.leave();
  }));

test('useStream.submit: given a run that waits, when another page submits to the thread, then its run comes after', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const gated = await startGated(s, threadId);
    const page = browser.open(optionsOf(s, 'echo', { threadId }));
    await page.until(({ stream }) => !stream.isThreadLoading);
    void page.stream.submit(say('later'), { multitaskStrategy: 'enqueue' });
    await s.until(({ type, data }) => type === 'RunCreated' && data.runId !== gated.runId);
    gated.open();
    await page.until(({ stream, texts }) => !stream.isLoading && texts().length === 4);
    assert.deepEqual(page.texts(), ['gated', 'through: gated', 'later', 'echo: later']);
    page.leave();
  }));

test.run();
