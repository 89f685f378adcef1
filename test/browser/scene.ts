/** A server with the graphs of `project`, and pages of its studio. */
import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { scaled } from '../support/scaled.ts';
import { shared } from '../support/shared-server.ts';
import type { suite } from '../support/suite.ts';
import { withServer, type TestServer, type TestServerOptions } from '../support/with-server.ts';
import { openModel, type Model } from './model.ts';

export const CONFIG = fileURLToPath(new URL('project/platform.json', import.meta.url));

export interface Studio {
  readonly s: TestServer;
  readonly page: Page;
  /** Runs the graph on a new thread until it ends, and returns the thread. */
  run(graph: string, input: object): Promise<string>;
  /** Opens a thread, and waits for its story. */
  open(threadId: string, query?: string): Promise<void>;
}

export const TRIP = { messages: [{ role: 'user', content: 'Plan a trip to Rome' }] };

export const say = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Resolves with the values at the end. */
export async function runToEnd(s: TestServer, threadId: string, body: object): Promise<void> {
  const { status, text } = await s.request('post', `/threads/${threadId}/runs/wait` as never, body as never);
  assert.equal(status, 200, text);
}

export async function newThread(s: TestServer): Promise<string> {
  const { json } = await s.request('post', '/threads', {});
  return (json as { thread_id: string }).thread_id;
}

interface Scene {
  readonly s: TestServer;
  readonly model: Model;
}

export async function withModel<T>(use: (model: Model) => Promise<T>): Promise<T> {
  const model = await openModel();
  process.env['MODEL_URL'] = model.url;
  try {
    return await use(model);
  } finally {
    model.close();
  }
}

/** One server for all tests of a file, and a page for each. */
export function openStudio(test: ReturnType<typeof suite>, options: TestServerOptions = {}) {
  const withPage = openBrowser(test);
  const scene = shared<Scene>(test, (use) =>
    withModel((model) => withServer({ config: CONFIG, ...options }, (s) => use({ s, model }))),
  );
  const withStudio = (
    use: (studio: Studio) => Promise<void>,
    page: Parameters<typeof withPage>[2] = {},
  ): Promise<void> => withPage(scene().s.url, (opened) => use(studioOn(scene().s, opened)), page);
  return { scene, withPage, withStudio };
}

/** Runs the graph on a new thread until it ends. */
export async function runNew(s: TestServer, graph: string, input: object): Promise<string> {
  const threadId = await newThread(s);
  await runToEnd(s, threadId, { assistant_id: graph, input });
  return threadId;
}

/** Longer than what any page waits for. */
const TIMEOUT_MS = scaled(60_000);

function studioOn(s: TestServer, page: Page): Studio {
  page.setDefaultTimeout(TIMEOUT_MS);
  return {
    s,
    page,
    run: (graph, input) => runNew(s, graph, input),
    async open(threadId, query = '') {
      await page.goto(`/studio/threads/${threadId}${query}`);
      await page.getByRole('list', { name: 'Story' }).getByRole('button').first().waitFor();
    },
  };
}
