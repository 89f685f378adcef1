/**
 * `npm run pictures`: takes the pictures of the studio that its page shows, of a server with the graphs of
 * `test/browser/project`. A person looks at them; no test compares them.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../test/support/browser.ts';
import { withServer, type TestServer } from '../test/support/with-server.ts';
import { CONFIG, runNew, runToEnd, say, TRIP, withModel } from '../test/browser/scene.ts';

const FOLDER = fileURLToPath(new URL('../test/browser/pictures/', import.meta.url));
const WIDE = { width: 1280, height: 720 };
const NARROW = { width: 390, height: 844 };

type Look = (page: Page) => Promise<unknown>;

async function takeAll(s: TestServer, browser: Browser): Promise<void> {
  const take = async (name: string, viewport: typeof WIDE, look: Look): Promise<void> => {
    const context = await browser.newContext({ baseURL: s.url, viewport });
    const page = await context.newPage();
    await look(page);
    await page.screenshot({ path: `${FOLDER}${name}-${viewport.width}.png` });
    await context.close();
  };
  const run = (graph: string, input: object) => runNew(s, graph, input);
  const booked = await run('travel', TRIP);
  await runToEnd(s, booked, { assistant_id: 'travel', command: { resume: true } });
  await run('survey', { topic: 'breakfast' });
  await run('tokens', say('Write 40 words'));
  const asking = await run('travel', TRIP);
  const failed = await run('lengths', { question: 'how long is this' });
  const at =
    (path: string, ...shown: readonly string[]): Look =>
    async (page) => {
      await page.goto(`/studio${path}`);
      for (const selector of shown) await page.locator(selector).first().waitFor();
    };
  mkdirSync(FOLDER, { recursive: true });
  const failure = at(
    `/threads/${failed}`,
    '.frame .marked',
    '.columns section + section .key',
    'text=splitting how',
  );
  await take('failed', WIDE, failure);
  await take('failed', NARROW, failure);
  await take('question', WIDE, at(`/threads/${asking}`, 'text=written at'));
  await take('question', NARROW, at(`/threads/${asking}`, 'text=written at'));
  await take('conversation', WIDE, at(`/threads/${booked}?tab=conversation`, 'text=Booked.', '.chat'));
  await take('graph', WIDE, at(`/threads/${booked}?tab=graph`, 'text=bold: ran last'));
  await take('threads', WIDE, at('/threads', 'text=TypeError'));
  await take('server', WIDE, at('/server', 'h2:has-text("Workers")'));
}

const browser = await launch();
try {
  await withModel(() => withServer({ config: CONFIG, workers: 1 }, (s) => takeAll(s, browser)));
} finally {
  await browser.close();
}
