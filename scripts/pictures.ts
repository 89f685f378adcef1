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
  const take = async (name: string, look: Look): Promise<void> => {
    for (const viewport of [WIDE, NARROW]) {
      const context = await browser.newContext({ baseURL: s.url, viewport });
      const page = await context.newPage();
      await look(page);
      await page.screenshot({ path: `${FOLDER}${name}-${viewport.width}.png` });
      await context.close();
    }
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
  const runOf = async (thread: string): Promise<string> =>
    ((await s.request('get', `/threads/${thread}/runs` as never)).json as { run_id: string }[])[0]!.run_id;
  const [one, other] = [await run('tokens', say('3 words')), await run('tokens', say('4 words'))];
  const compared = `/compare?a=${await runOf(one)}&b=${await runOf(other)}`;
  await take(
    'failed',
    at(`/threads/${failed}`, '.frame .marked', '.columns section + section .key', 'text=splitting how'),
  );
  await take('question', at(`/threads/${asking}`, 'text=written at'));
  await take('conversation', at(`/threads/${booked}?tab=conversation`, 'text=Booked.', '.chat'));
  await take('call', at(`/threads/${asking}?tab=call`, '.exchange'));
  await take('graph', at(`/threads/${booked}?tab=graph`, 'text=bold: ran last'));
  await take('compare', at(compared, 'text=first difference'));
  await take('threads', at('/threads', 'text=TypeError'));
  await take('server', at('/server', 'h2:has-text("Workers")'));
}

const browser = await launch();
try {
  await withModel(() => withServer({ config: CONFIG, workers: 1 }, (s) => takeAll(s, browser)));
} finally {
  await browser.close();
}
