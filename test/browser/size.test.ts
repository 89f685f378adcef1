/** Ten thousand threads, and a thread with a hundred thousand events. */
import * as assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { lackingBrowser } from '../support/browser.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { layLongThread } from '../support/long-thread.ts';
import { openStudio } from './scene.ts';

const test = suite('browser: size');
const { withStudio } = openStudio(test);
const options = { lacking: lackingBrowser };

test(
  '10,000 threads are one list: only visible rows exist, both ends are reached, one is found by text',
  () =>
    withStudio(async ({ s, page }) => {
      const ids = Array.from(
        { length: 10_000 },
        (_, at) => `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`,
      );
      await Promise.all(
        ids.map((threadId, at) =>
          s.server.threads.dispatch(threadId, [
            { type: 'CreateThread', threadId, metadata: { number: `number ${at}` }, temporary: false },
          ]),
        ),
      );
      await page.goto('/studio/threads');
      await page.getByText('10,000', { exact: true }).waitFor();
      const rows = page.getByRole('list', { name: 'Threads' }).getByRole('link');
      await rows.first().waitFor();
      assert.ok((await rows.count()) < 100);
      await page.getByRole('list', { name: 'Threads' }).press('End');
      await page
        .locator(`a[href$="${ids[0]}"], a[href$="${ids.at(-1)}"]`)
        .first()
        .waitFor();
      assert.ok((await rows.count()) < 100);
      await page.getByLabel('Search threads').fill('number 4711');
      await page.getByText('1', { exact: true }).waitFor();
      await page.locator(`a[href$="${ids[4711]}"]`).waitFor();
    }),
  options,
);

const MANY = 100_000;
const FEW = 500;

interface Pace {
  readonly openedMs: number;
  /** Median of steps with the arrow key. */
  readonly stepMs: number;
}

/** Milliseconds from the key until the page shows the version. */
const STEP = `(async () => {
  const shown = () => document.querySelector('.fact-line h2').textContent;
  const before = shown();
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
  while (shown() === before) await new Promise(requestAnimationFrame);
  return performance.now() - start;
})()`;

async function paceOf(page: Page, threadId: string): Promise<Pace> {
  const start = performance.now();
  await page.goto(`/studio/threads/${threadId}`);
  await page.locator('.fact[aria-current]').waitFor();
  const openedMs = performance.now() - start;
  await page.locator('.state .key').first().waitFor();
  const steps: number[] = [];
  for (let step = 0; step < 15; step++) steps.push(await page.evaluate<number>(STEP));
  return { openedMs, stepMs: steps.sort((a, b) => a - b)[7]! };
}

/** A busy machine makes any two measurements differ by this much. */
const NOISE_MS = scaled(400);

test(
  'a thread with 100,000 events opens and steps like a small one, and its beginning is one move away',
  () =>
    withStudio(async ({ s, page }) => {
      const small = await layLongThread(s, '01980002', FEW);
      const long = await layLongThread(s, '01980001', MANY);
      await paceOf(page, small);
      const [ofSmall, ofLong] = [await paceOf(page, small), await paceOf(page, long)];
      console.log(`${FEW} events`, ofSmall, `${MANY} events`, ofLong);
      assert.ok(ofLong.openedMs < 3 * ofSmall.openedMs + NOISE_MS, JSON.stringify([ofSmall, ofLong]));
      assert.ok(ofLong.stepMs < 3 * ofSmall.stepMs + NOISE_MS / 4, JSON.stringify([ofSmall, ofLong]));
      assert.ok((await page.locator('.story .fact').count()) < 100);
      await page.getByRole('slider').press('Home');
      await page.locator('.fact[aria-current]', { hasText: 'thread created' }).waitFor();
      await page.keyboard.press('0');
      await page.getByText(/^v (\d{6}) of \1$/).waitFor();
    }),
  options,
);

test.run();
