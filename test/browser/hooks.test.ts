/** A page of another origin with the official React hook: what its person sees and does, in Chromium. */
import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { lackingBrowser } from '../support/browser.ts';
import { scaled } from '../support/scaled.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withTcpProxy } from '../support/tcp-proxy.ts';
import type { TestServer } from '../support/with-server.ts';
import { openStudio } from './scene.ts';

const test = suite('browser: the React hook');
const { scene, withPage } = openStudio(test);
const options = { lacking: lackingBrowser };

const HTML =
  '<!doctype html><link rel="icon" href="data:," /><div id="chat"></div><script src="/page.js"></script>';

/** Address of the page: an origin of its own, as an application has. */
const origin = shared<string>(test, async (use) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('hooks/page.tsx', import.meta.url))],
    bundle: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  });
  const server = createServer((request, reply) => {
    const isScript = request.url === '/page.js';
    reply.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    reply.end(isScript ? outputFiles[0]!.contents : HTML);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

interface Chat {
  readonly s: TestServer;
  readonly page: Page;
  /** Clicks the button after typing the text. */
  press(button: string, text?: string): Promise<void>;
  /** Opens a thread, or a page without one, by its link. */
  visit(thread?: string): Promise<void>;
  /** Thread that the page names in its address once it has created one. */
  thread(): Promise<string>;
  /** Waits until the last answer ends in a text. */
  answered(text: string): Promise<void>;
  idle(): Promise<void>;
  texts(): Promise<string[]>;
}

const withChat = (
  graph: string,
  use: (chat: Chat) => Promise<void>,
  { api = scene().s.url, allowed = /request off the origin/ } = {},
) =>
  withPage(
    origin(),
    async (page) => {
      const { s } = scene();
      await page.addInitScript(KEEP_SHOWN);
      page.setDefaultTimeout(scaled(60_000));
      const url = `/?${new URLSearchParams({ api, graph })}`;
      const chat: Chat = {
        s,
        page,
        async press(button, text = '') {
          await page.getByLabel('Text').fill(text);
          await page.getByRole('button', { name: button }).first().click();
        },
        async visit(thread = '') {
          await page.goto(`${url}#${thread}`);
        },
        async thread() {
          await page.waitForURL(/#./);
          return new URL(page.url()).hash.slice(1);
        },
        answered: (text) =>
          page
            .locator('li.ai')
            .last()
            .filter({ hasText: new RegExp(`${text}\\s*$`) })
            .waitFor(),
        idle: () => page.getByRole('status').filter({ hasText: 'idle' }).waitFor(),
        texts: async () => (await page.locator('li p').allTextContents()).map((text) => text.trim()),
      };
      await chat.visit();
      await chat.idle();
      await use(chat);
      assert.equal(await page.getByRole('alert').count(), 0);
    },
    { allowed },
  );

const words = (count: number): string => Array.from({ length: count }, (_, at) => `w${at}`).join(' ');

const LONG = '200 words, wait';

/** Keeps each text that the last answer had since the page was loaded. */
const KEEP_SHOWN = `
  const shown = (globalThis.shown = new Set());
  new MutationObserver(() => {
    const answer = [...document.querySelectorAll('li.ai p')].at(-1);
    if (answer) shown.add(answer.textContent.trim());
  }).observe(document, { childList: true, characterData: true, subtree: true });
`;

/** Waits for the end of an answer that grew word by word, without a gap and without a repetition. */
async function grown({ page, answered, idle, texts }: Chat): Promise<void> {
  await answered('w199');
  await idle();
  assert.deepEqual(await texts(), [LONG, words(200)]);
  const shown = await page.evaluate<string[]>('[...shown]');
  assert.deepEqual(
    shown.filter((text) => !words(200).startsWith(text)),
    [],
  );
}

/** Sends a message whose answer waits halfway, and returns the thread. */
async function sendHalf({ press, answered, thread }: Chat): Promise<string> {
  scene().model.closeGate();
  await press('Send', LONG);
  await answered('w99');
  return thread();
}

const runOf = async (s: TestServer, thread: string) => {
  const runs = await s.client.runs.list(thread);
  assert.equal(runs.length, 1);
  return runs[0]!;
};

test(
  'a first message makes a thread, and its answer appears while it is streamed',
  () =>
    withChat('tokens', async (chat) => {
      const { s, page, texts } = chat;
      const thread = await sendHalf(chat);
      assert.equal(await page.getByRole('status').textContent(), 'running');
      assert.deepEqual(await texts(), [LONG, words(100)]);
      scene().model.openGate();
      await grown(chat);
      assert.equal((await s.client.threads.get(thread)).status, 'idle');
    }),
  options,
);

test(
  'a page that is loaded again rejoins its run, shows all of it, and forgets it at its end (S2)',
  () =>
    withChat('tokens', async (chat) => {
      const { s, page, texts, answered } = chat;
      const thread = await sendHalf(chat);
      await page.reload();
      await answered('w99');
      assert.deepEqual(await texts(), [LONG, words(100)]);
      scene().model.openGate();
      await grown(chat);
      assert.equal((await runOf(s, thread)).status, 'success');
      assert.equal(await page.evaluate('sessionStorage.length'), 0);
    }),
  options,
);

test(
  'a page whose connection breaks in the middle of an answer misses nothing of it (S2)',
  () =>
    withTcpProxy(scene().s.url, (proxy) =>
      withChat(
        'tokens',
        async (chat) => {
          await sendHalf(chat);
          const resumed = chat.page.waitForResponse(
            (response) => response.request().headers()['last-event-id'] !== undefined,
          );
          proxy.cut();
          assert.equal((await resumed).status(), 200);
          scene().model.openGate();
          await grown(chat);
        },
        { api: proxy.url, allowed: /request off the origin|ERR_/ },
      ),
    ),
  options,
);

test(
  'a question is shown, also after the page is loaded again, and its answer resumes the run',
  () =>
    withChat('travel', async ({ s, page, press, thread, answered, idle }) => {
      await press('Send', 'Plan a trip to Rome');
      await page.getByText('Book it?').waitFor();
      await idle();
      await page.reload();
      await page.getByText('Book it?').waitFor();
      await press('Answer', 'yes');
      await answered('Have a good journey!');
      await idle();
      await page.getByText('Book it?').waitFor({ state: 'detached' });
      const { values } = await s.client.threads.getState<{ plan: { booked: string } }>(await thread());
      assert.equal(values.plan.booked, 'yes');
    }),
  options,
);

test(
  'stop cancels the run, and the page that is loaded again does not wait for it',
  () =>
    withChat('tokens', async (chat) => {
      const { s, page, press, idle, texts } = chat;
      const thread = await sendHalf(chat);
      const { run_id: runId } = await runOf(s, thread);
      await press('Stop');
      await idle();
      await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === runId);
      assert.equal((await runOf(s, thread)).status, 'interrupted');
      scene().model.openGate();
      await page.reload();
      await page.locator('li.human').waitFor();
      await idle();
      assert.deepEqual(await texts(), [LONG]);
    }),
  options,
);

test(
  'a message that is said anew begins a branch; both branches are there after the page is loaded again',
  () =>
    withChat('tokens', async ({ page, press, answered, idle, texts }) => {
      for (const count of [3, 5]) {
        await press('Send', `${count} words`);
        await answered(`w${count - 1}`);
        await idle();
      }
      const first = ['3 words', words(3), '5 words', words(5)];
      assert.deepEqual(await texts(), first);
      await press('Say the text instead', '4 words');
      await answered('w3');
      const branch = (n: number) => page.getByRole('button', { name: `Branch ${n}` });
      await branch(2).waitFor();
      assert.deepEqual(await texts(), ['4 words', words(4)]);
      await page.reload();
      await branch(1).click();
      await answered('w4');
      assert.deepEqual(await texts(), first);
      await branch(2).click();
      await answered('w3');
      assert.deepEqual(await texts(), ['4 words', words(4)]);
    }),
  options,
);

test(
  'of two threads each keeps its own messages, and one that runs is rejoined when the page returns to it',
  () =>
    withChat('tokens', async (chat) => {
      const { s, page, press, visit, thread, answered, idle, texts } = chat;
      const one = await sendHalf(chat);
      await visit();
      await page.locator('li').first().waitFor({ state: 'detached' });
      await idle();
      await press('Send', '3 words');
      await answered('w2');
      await idle();
      const two = await thread();
      await visit(one);
      await answered('w99');
      scene().model.openGate();
      await grown(chat);
      await visit(two);
      await answered('w2');
      assert.deepEqual(await texts(), ['3 words', words(3)]);
      for (const id of [one, two]) assert.equal((await runOf(s, id)).status, 'success');
    }),
  options,
);

test.run();
