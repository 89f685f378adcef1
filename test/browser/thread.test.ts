/** The page of a thread: what it opens with, and what its tabs and actions show. */
import * as assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { lackingBrowser } from '../support/browser.ts';
import { suite } from '../support/suite.ts';
import { openStudio, TRIP } from './scene.ts';

const test = suite('browser: the page of a thread');
const { withStudio } = openStudio(test);
const options = { lacking: lackingBrowser };

const moment = (page: Page) => page.getByRole('region', { name: 'Moment' });
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const story = (page: Page) => page.getByRole('list', { name: 'Story' });
const shownVersion = (page: Page) => moment(page).getByRole('heading', { name: /^v \d+$/ });

test(
  'a failed thread opens at its failure: node, line with code, input, state before, what was printed',
  () =>
    withStudio(async ({ page, run, open }) => {
      const failed = await run('lengths', { question: 'how long is this' });
      await page.goto('/studio');
      await page.waitForURL(`**/studio/threads/${failed}`);
      await open(failed);
      const shown = moment(page);
      await shown.getByRole('heading', { name: /TypeError: Cannot read properties of undefined/ }).waitFor();
      await shown.getByText(/node measure · step 2 · attempt 1/).waitFor();
      await shown.getByRole('link', { name: /^lengths\.ts:\d+:\d+$/ }).waitFor();
      await page.locator('.frame .marked').getByText('lenght').waitFor();
      const sectionOf = (name: string) =>
        shown.locator('section', { has: page.getByRole('heading', { name }) });
      await sectionOf('Input').getByText('how long is this').waitFor();
      await sectionOf('State before').getByText('words').waitFor();
      await sectionOf('Printed').getByText('splitting how long is this').waitFor();
      assert.equal(await tab(page, 'Error').getAttribute('aria-selected'), 'true');
    }),
  options,
);

test(
  'one click continues a failed thread, and the page follows the new run',
  () =>
    withStudio(async ({ s, page, run, open }) => {
      const failed = await run('lengths', { question: 'short' });
      await open(failed);
      await moment(page).getByRole('button', { name: 'Continue', exact: true }).click();
      await story(page).getByText('run 2').waitFor();
      await s.until(({ type, data }) => type === 'RunCompleted' && 'runId' in data && data.attempt === 1);
      await page.locator('.story .fact.bad').nth(1).waitFor();
      await moment(page)
        .getByRole('heading', { name: /TypeError/ })
        .waitFor();
      assert.equal(new URL(page.url()).search, '');
    }),
  options,
);

test(
  'the address names version and tab, and another version of the state is compared on request',
  () =>
    withStudio(async ({ page, run, open }) => {
      const thread = await run('travel', TRIP);
      await open(thread, '?v=7&tab=state');
      assert.equal(await shownVersion(page).textContent(), 'v 7');
      const changes = moment(page).getByRole('listitem');
      await changes.filter({ hasText: 'plan' }).getByLabel('added').waitFor();
      await page.getByLabel('Compare with version').fill('0');
      await page.keyboard.press('Enter');
      await changes.filter({ hasText: 'budget' }).getByText('written at v 6').click();
      await page.waitForURL('**?v=6&tab=state');
      await shownVersion(page).filter({ hasText: 'v 6' }).waitFor();
      await page.reload();
      await shownVersion(page).filter({ hasText: 'v 6' }).waitFor();
    }),
  options,
);

test(
  'a waiting thread opens at its question, and the answer goes on from there',
  () =>
    withStudio(async ({ page, run, open }) => {
      await open(await run('travel', TRIP));
      const form = page.locator('form.question');
      await form.getByText('Book it?').waitFor();
      await form.getByRole('button', { name: 'true' }).click();
      await form.getByRole('button', { name: 'Answer' }).click();
      await story(page).getByText('run 2').waitFor();
      await tab(page, 'Conversation').click();
      await moment(page).getByText('Booked. Have a good journey!').waitFor();
      await moment(page).getByText('search_hotels(').waitFor();
      await page.getByRole('button', { name: 'Raw' }).click();
      await moment(page).getByText('tool_call_id').first().waitFor();
    }),
  options,
);

test(
  'several questions are answered at once',
  () =>
    withStudio(async ({ page, run, open }) => {
      await open(await run('survey', { topic: 'breakfast' }));
      const answers = page.getByLabel('Answer', { exact: true });
      await answers.nth(1).waitFor();
      await answers.nth(0).fill('Ada');
      await answers.nth(1).fill('green');
      await page.getByRole('button', { name: 'Answer all' }).click();
      await page.locator('.story .fact.good').waitFor();
      await tab(page, 'State').click();
      await moment(page).getByText('What is your name? Ada').first().waitFor();
      await moment(page).getByText('Which colour do you like? green').first().waitFor();
    }),
  options,
);

test(
  'a recorded call is shown as sent and answered; with another answer the run is executed again, offline',
  () =>
    withStudio(async ({ page, run, open }) => {
      await open(await run('travel', TRIP), '?tab=call');
      await moment(page).getByText('812 in · 41 out').waitFor();
      const call = page.locator('.exchange').first();
      await call.getByText('"traveller-2"').waitFor();
      await call.getByText('"search_trains"').waitFor();
      await call.getByRole('button', { name: 'What if it had said …' }).click();
      await call.getByLabel('Answer of call #1').fill('{"content": "I stay at home."}');
      await call.getByRole('button', { name: 'Run again with this answer' }).click();
      await page.waitForURL('**/studio/compare?thread=*');
      await page.getByText('different', { exact: true }).waitFor();
      await page.getByText('I stay at home.').first().waitFor();
    }),
  options,
);

test(
  'a file that is dropped on a page opens for reading; one that is chosen and damaged is one sentence',
  () =>
    withStudio(
      async ({ s, page, run }) => {
        const failed = await run('lengths', { question: 'kept in a file' });
        const file = await fetch(`${s.url}/threads/${failed}/export`);
        const buffer = Buffer.from(await file.arrayBuffer());
        await page.goto('/studio/threads');
        const box = page.getByLabel('Open a .rewound file');
        await box.setInputFiles({ name: 'damaged.rewound', mimeType: '', buffer: buffer.subarray(0, 900) });
        await page.locator('.notices .bad').waitFor();
        await page.evaluate((base64) => {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([bytes], 'whole.rewound'));
          document.body.dispatchEvent(
            new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }),
          );
        }, buffer.toString('base64'));
        await page.waitForURL('**/studio/opened/*/threads/*');
        await page.getByText('opened file, for reading').waitFor();
        await moment(page)
          .getByRole('heading', { name: /TypeError/ })
          .waitFor();
        await moment(page).getByText('kept in a file').first().waitFor();
        assert.equal(await page.getByRole('button', { name: 'Continue', exact: true }).count(), 0);
      },
      { allowed: /422|404/ },
    ),
  options,
);

test(
  'the graph shows what ran, how often, and which edges were taken',
  () =>
    withStudio(async ({ page, run, open }) => {
      await open(await run('travel', TRIP), '?tab=graph');
      const box = (name: string) => page.locator('.graph g', { hasText: name });
      await box('model').getByText('×2').waitFor();
      await box('tools').getByText('×1').waitFor();
      assert.equal(await page.locator('.graph .edge.taken').count(), 3);
      assert.match((await box('ask').getAttribute('class')) ?? '', /next/);
    }),
  options,
);

test(
  'an edited state is written and the run goes on with it; a step of the past is forked',
  () =>
    withStudio(async ({ s, page, run, open }) => {
      const thread = await run('lengths', { question: 'one two' });
      await open(thread);
      await page.getByRole('button', { name: 'Edit and continue' }).click();
      await page.getByLabel('State', { exact: true }).fill('{"question": "one two", "words": []}');
      await page.getByRole('button', { name: 'Write and continue' }).click();
      await page.locator('.story .fact.good').waitFor();
      const state = await s.request('get', `/threads/${thread}/state` as never);
      assert.deepEqual((state.json as { values: object }).values, {
        ...{ question: 'one two', words: [], lengths: [] },
      });
      await open(thread, '?v=6');
      await page.keyboard.press('Control+k');
      await page.getByRole('button', { name: 'Fork from v 6' }).click();
      await story(page).getByText('run 3').waitFor();
    }),
  options,
);

test(
  'a moment is handed on: as a report, as code, as an exported file with the line that checks it',
  () =>
    withStudio(
      async ({ page, run, open }) => {
        await open(await run('lengths', { question: 'hand it on' }));
        const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
        await page.getByRole('button', { name: 'Copy for an agent' }).click();
        await page.getByText('The report is in the clipboard.').waitFor();
        assert.match(await copied(), /^# Run [^]*failed in node `measure`[^]*hand it on/);
        await page.getByRole('button', { name: 'Make it a test' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText(/^rewound rerun --check \w+\.rewound$/).waitFor();
        const saving = page.waitForEvent('download');
        await dialog.getByRole('button', { name: /^Save/ }).click();
        assert.match((await saving).suggestedFilename(), /\.rewound$/);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'All actions' }).click();
        await dialog.getByRole('button', { name: 'Copy as curl or SDK code' }).click();
        await dialog.getByRole('button', { name: 'Copy' }).first().click();
        await page.getByText('The code is in the clipboard.').waitFor();
        assert.match(await copied(), /^curl -s http[^]*\/runs\/wait/);
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    ),
  options,
);

test(
  'an unknown version, an unknown thread and a deleted one are one calm sentence each',
  () =>
    withStudio(
      async ({ s, page, run, open }) => {
        const thread = await run('survey', { topic: 'tea' });
        await open(thread, '?v=999');
        await page.getByText(/This thread has no version 999: its newest is \d+\./).waitFor();
        await page.getByRole('button', { name: 'Show that' }).click();
        await shownVersion(page).waitFor();
        await s.request('delete', `/threads/${thread}` as never);
        await page.getByText('This thread has been deleted.').waitFor();
        await page.goto('/studio/threads/00000000-0000-7000-8000-000000000000');
        await page.getByText('There is no thread with this id, or you may not see it.').waitFor();
        await page.goto('/studio/nowhere');
        await page.getByText('There is no page at this address.').waitFor();
      },
      { allowed: /404/ },
    ),
  options,
);

test.run();
