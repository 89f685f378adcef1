/** All pages: accessibility, keyboard, narrow screens, long lists, callers with rights of their own. */
import * as assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { lackingBrowser } from '../support/browser.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer } from '../support/with-server.ts';
import { newThread, openStudio, say, TRIP } from './scene.ts';

const test = suite('browser: pages');
const { scene, withPage, withStudio } = openStudio(test);
const options = { lacking: lackingBrowser };

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, 'utf8'));
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

test(
  'axe finds nothing on any page and tab, light and dark, wide and narrow',
  async () => {
    for (const look of [
      { colorScheme: 'light' as const, viewport: { width: 1280, height: 800 } },
      { colorScheme: 'dark' as const, viewport: { width: 390, height: 844 } },
    ])
      await withStudio(
        async ({ page, run, open }) => {
          const failed = await run('lengths', { question: 'how long' });
          const asking = await run('travel', TRIP);
          const shown: [thread: string, query: string, text: string][] = [
            [failed, '', 'State before'],
            [asking, '?tab=state', 'The graph asks'],
            [asking, '?tab=conversation', 'You'],
            [asking, '?tab=call', 'What if it had said'],
            [asking, '?tab=graph', 'bold: ran last'],
            [asking, '?tab=raw', 'RunCompleted'],
          ];
          for (const [thread, query, text] of shown) {
            await open(thread, query);
            await page.getByRole('region', { name: 'Moment' }).getByText(text).first().waitFor();
            assert.deepEqual(await findings(page), []);
            assert.ok(await fits(page), `${page.url()} is wider than the screen`);
          }
          await page.keyboard.press('Control+k');
          await page.getByRole('dialog').waitFor();
          assert.deepEqual(await findings(page), []);
          for (const [path, name] of Object.entries({
            threads: 'Threads',
            server: 'Server',
            compare: 'Compare',
          })) {
            await page.goto(`/studio/${path}`);
            await page.getByRole('heading', { name, level: 1 }).waitFor();
            assert.deepEqual(await findings(page), []);
            assert.ok(await fits(page), `${page.url()} is wider than the screen`);
          }
        },
        // The tool is evaluated in the page, which the page's own policy refuses.
        { ...look, bypassCSP: true },
      );
  },
  options,
);

const fits = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

test(
  'everything is reached by keys: facts, versions, failures, tabs, search, actions, help',
  () =>
    withStudio(async ({ page, run, open }) => {
      const failed = await run('lengths', { question: 'by keys' });
      await open(await run('tokens', say('by keys 3')));
      const version = page.getByRole('region', { name: 'Moment' }).getByRole('heading', { name: /^v / });
      const shows = (text: string) => version.filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
      const press = (keys: string) => page.keyboard.press(keys);
      await shows('v 7');
      await press('k');
      await shows('v 6');
      await press('ArrowLeft');
      await press('ArrowLeft');
      await shows('v 4');
      await press('k');
      await shows('v 2');
      await press('j');
      await shows('v 4');
      await press('ArrowRight');
      await shows('v 5');
      await press('2');
      await page.getByRole('tab', { name: 'Conversation', selected: true }).waitFor();
      await press('0');
      await shows('v 7');
      await press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await press('/');
      await page.keyboard.type(failed);
      const found = page.getByRole('list', { name: 'Threads' }).getByRole('link');
      await found.filter({ hasText: 'TypeError' }).waitFor();
      await press('Tab');
      await press('Tab');
      await press('Tab');
      await press('Enter');
      await page.waitForURL(`**/threads/${failed}`);
      await shows('v 7');
      await press('1');
      await press('ArrowLeft');
      await press('e');
      await shows('v 7');
      await press('Control+k');
      await page.keyboard.type('continue');
      await press('Enter');
      await page.getByRole('list', { name: 'Story' }).getByText('run 2').waitFor();
      await press('g');
      await press('t');
      await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor();
    }),
  options,
);

test(
  'the page of threads starts a thread, finds threads by text, and shows failed ones only',
  () =>
    withStudio(async ({ page, run }) => {
      await run('lengths', { question: 'x' });
      await page.goto('/studio/threads');
      await page.getByRole('button', { name: 'New thread' }).click();
      await page.getByLabel('Graph').selectOption('tokens');
      await page.getByLabel('Message').fill('a search word of 4');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.waitForURL('**/studio/threads/*-*');
      await page.locator('.story .fact.good').waitFor();
      await page.getByRole('link', { name: 'Threads' }).click();
      await page.getByLabel('Search threads').fill('SEARCH word');
      const rows = page.getByRole('list', { name: 'Threads' }).getByRole('link');
      await rows.filter({ hasText: 'a search word of 4' }).waitFor();
      assert.equal(await rows.count(), 1);
      await page.getByLabel('failed only').check();
      await page.getByText('No thread matches.').waitFor();
      await page.getByLabel('Search threads').fill('');
      await rows.filter({ hasText: 'TypeError' }).first().waitFor();
      assert.equal(await rows.filter({ hasNotText: 'error' }).count(), 0);
    }),
  options,
);

test(
  'runs that go on are listed with their attempt, and cancelled there',
  () =>
    withStudio(async ({ s, page }) => {
      const { model } = scene();
      model.closeGate();
      const body = { assistant_id: 'tokens', input: say('8 words, wait') };
      await s.request('post', `/threads/${await newThread(s)}/runs` as never, body as never);
      await page.goto('/studio/threads');
      const row = page.getByRole('region', { name: 'Runs that wait or run' }).getByRole('row');
      await row.filter({ hasText: '8 words, wait' }).filter({ hasText: 'running' }).waitFor();
      await page.getByRole('button', { name: /^Cancel run/ }).click();
      await page.getByRole('region', { name: 'Runs that wait or run' }).waitFor({ state: 'detached' });
      model.openGate();
    }),
  options,
);

test(
  'the page of the server shows queue, log and settings, and pauses a cron',
  () =>
    withStudio(async ({ s, page }) => {
      await s.request('post', '/runs/crons', { assistant_id: 'survey', schedule: '0 7 * * *', input: {} });
      await page.goto('/studio/server');
      await page.getByText('0 of').waitFor();
      await page.getByText(/Configuration as understood/).click();
      await page.getByRole('cell', { name: 'graphs', exact: true }).waitFor();
      await page.getByRole('button', { name: /^Pause cron/ }).click();
      await page.getByRole('button', { name: /^Resume cron/ }).waitFor();
    }),
  options,
);

test(
  'two runs are compared step by step, and a run with its re-execution',
  () =>
    withStudio(async ({ s, page, run, open }) => {
      const [first, second] = [await run('tokens', say('3 words')), await run('tokens', say('4 words'))];
      const runOf = async (thread: string): Promise<string> =>
        ((await s.request('get', `/threads/${thread}/runs` as never)).json as { run_id: string }[])[0]!
          .run_id;
      await page.goto(`/studio/compare?a=${await runOf(first)}&b=${await runOf(second)}`);
      await page.getByText('first difference: input').waitFor();
      await page.getByRole('row').filter({ hasText: 'write' }).first().waitFor();
      await open(first);
      await page.getByRole('button', { name: 'Run again offline' }).click();
      await page.waitForURL('**/studio/compare?thread=*');
      await page.getByText(/^(equal|different|untried)$/).waitFor();
    }),
  options,
);

test(
  'two users see their own threads alone, and a session that ended asks again',
  () =>
    withServer({ config: `${PROJECT}platform.auth.json` }, (s) =>
      withPage(
        s.url,
        async (page) => {
          const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
          const make = async (name: string): Promise<string> => {
            const { json } = await s.request('post', '/threads', { metadata: { of: name } }, as(name));
            return (json as { thread_id: string }).thread_id;
          };
          const [alices, bobs] = [await make('alice'), await make('bob')];
          const signIn = async (name: string): Promise<void> => {
            await page.getByLabel('Value').fill(`${name}-token`);
            await page.getByRole('button', { name: 'Sign in' }).click();
          };
          await page.goto('/studio/threads');
          await signIn('alice');
          const rows = page.getByRole('list', { name: 'Threads' }).getByRole('link');
          await rows.first().waitFor();
          assert.equal(await rows.count(), 1);
          assert.match((await rows.getAttribute('href'))!, new RegExp(alices));
          await page.goto(`/studio/threads/${bobs}`);
          await page.getByText('There is no thread with this id, or you may not see it.').waitFor();
          await page.evaluate(
            `sessionStorage.setItem('studio-credentials', '{"authorization":"Bearer gone"}')`,
          );
          await page.goto(`/studio/threads/${bobs}`);
          await page.getByRole('heading', { name: 'Sign in' }).waitFor();
          await signIn('bob');
          await page.getByText('thread created').first().waitFor();
          await page.goto('/studio/server');
          await page.getByText('You may not do this').first().waitFor();
        },
        { allowed: /401|403|404/ },
      ),
    ),
  options,
);

test.run();
