/** Open pages while runs go on, connections break and servers die. */
import * as assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { lackingBrowser } from '../support/browser.ts';
import { withProject } from '../e2e/dev-project.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { startProcess } from '../support/with-process.ts';
import { CONFIG, newThread, openStudio, say, withModel } from './scene.ts';

const test = suite('browser: live');
const { scene, withPage, withStudio } = openStudio(test);
const options = { lacking: lackingBrowser };

const STREAMED = { stream_mode: ['messages-tuple'] };
const TOKENS = 2_000;

const text = (page: Page) => page.locator('.message.ai .text').last();
const success = (page: Page) => page.locator('.story .fact.good');
const words = (count: number): string =>
  Array.from({ length: count }, (_, at) => `w${at} `)
    .join('')
    .trim();

/** Starts a run that waits after half of its tokens. */
async function startHalf(threadId: string): Promise<void> {
  const { s, model } = scene();
  model.closeGate();
  const body = { assistant_id: 'tokens', input: say(`${TOKENS} words, wait`), ...STREAMED };
  await s.request('post', `/threads/${threadId}/runs` as never, body as never);
}

const HALF = `w${TOKENS / 2 - 1} `;

test(
  '2,000 tokens stream into two tabs; one that is loaded again in the middle misses none',
  () =>
    withStudio(async ({ s, page, open }) => {
      const thread = await newThread(s);
      await open(thread);
      const other = await page.context().newPage();
      await startHalf(thread);
      await text(page).filter({ hasText: HALF }).waitFor();
      await other.goto(page.url());
      await text(other).filter({ hasText: HALF }).waitFor();
      await page.reload();
      await text(page).filter({ hasText: HALF }).waitFor();
      assert.equal(
        await page.getByRole('tab', { name: 'Conversation' }).getAttribute('aria-selected'),
        'true',
      );
      scene().model.openGate();
      for (const tab of [page, other]) {
        await success(tab).waitFor();
        await text(tab)
          .filter({ hasText: `w${TOKENS - 1}` })
          .waitFor();
        assert.equal((await text(tab).textContent())?.trim(), words(TOKENS));
        assert.equal(await tab.locator('.message.ai').count(), 1);
      }
    }),
  options,
);

test(
  'a run that is told to stop ends, and the page says so',
  () =>
    withStudio(async ({ s, page, open }) => {
      const thread = await newThread(s);
      await startHalf(thread);
      await open(thread);
      await page.getByRole('button', { name: 'Stop the run' }).click();
      await page.locator('.story .fact', { hasText: 'stopped' }).waitFor();
      scene().model.openGate();
    }),
  options,
);

test(
  'a message that is sent from the page is answered there, though the server was not ready at first',
  () =>
    withStudio(
      async ({ page, run, open }) => {
        const thread = await run('tokens', say('3 words'));
        const notReady = { status: 503, headers: { 'retry-after': '1' }, json: { detail: 'not ready' } };
        await page.route('**/schemas', (route) => route.fulfill(notReady), { times: 1 });
        await open(thread, '?tab=conversation');
        await page.getByLabel('Message').fill('5 words');
        await page.keyboard.press('Enter');
        await text(page).filter({ hasText: 'w4' }).waitFor();
        await success(page).nth(1).waitFor();
        assert.equal(await page.locator('.message').count(), 4);
      },
      { allowed: /503/ },
    ),
  options,
);

test(
  'an open page outlives kill -9 of the server: it reconnects and misses nothing',
  () =>
    withTempDir((dir) =>
      withModel(async (model) => {
        const env = { MODEL_URL: model.url };
        const first = await startProcess({ dir, config: CONFIG, env });
        const { port } = new URL(first.url);
        const json = { 'content-type': 'application/json' };
        const post = async (path: string, body: object) =>
          (
            await fetch(`${first.url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
          ).json();
        const { thread_id: thread } = (await post('/threads', {})) as { thread_id: string };
        await withPage(
          first.url,
          async (page) => {
            await page.goto(`/studio/threads/${thread}`);
            const run = { assistant_id: 'tokens', input: say('40 words, wait'), ...STREAMED };
            await post(`/threads/${thread}/runs`, run);
            await text(page).filter({ hasText: 'w19 ' }).waitFor();
            await first.end('SIGKILL');
            await page.getByText('connection lost, trying again …').waitFor();
            const second = await startProcess({ dir, config: CONFIG, env, args: ['--port', port] });
            try {
              model.openGate();
              await success(page).waitFor();
              await page.getByText('connection lost').waitFor({ state: 'detached' });
              await page.getByRole('button', { name: 'attempt 2 starts' }).waitFor();
              await text(page).filter({ hasText: 'w39' }).waitFor();
              assert.equal((await text(page).textContent())?.trim(), words(40));
            } finally {
              await second.end('SIGTERM');
            }
          },
          { allowed: /ERR_/ },
        );
      }),
    ),
  options,
);

const adding = (more: number): string => `export const graph = ({ sum = 0 }) => ({ sum: sum + ${more} });`;

test(
  'an open page shows what a save changed, and leads to the run before and after it',
  () =>
    withProject(
      { 'platform.json': '{ "graphs": { "adds": "./adds.ts:graph" } }', 'adds.ts': adding(1) },
      ({ server, write }) =>
        withPage(server.url, async (page) => {
          const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
          await server.ask('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'adds', input: {} });
          await page.goto(`/studio/threads/${thread}`);
          await success(page).waitFor();
          write('adds.ts', adding(2));
          const verdict = page.locator('a.verdict', { hasText: 'different' });
          await verdict.waitFor();
          assert.match((await verdict.getAttribute('title'))!, /sum/);
          await verdict.click();
          await page.waitForURL(`**/studio/compare?thread=${thread}&run=*`);
          await page.getByText('different', { exact: true }).first().waitFor();
        }),
    ),
  options,
);

test.run();
