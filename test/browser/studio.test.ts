import * as assert from 'node:assert/strict';
import { lackingBrowser, openBrowser } from '../support/browser.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('browser: the studio');
const withPage = openBrowser(test);
const options = { lacking: lackingBrowser };

test(
  'a browser that opens the address of the server is in the studio',
  () =>
    withServer({}, (s) =>
      withPage(s.url, async (page) => {
        await page.goto('/');
        assert.equal(page.url(), `${s.url}/studio`);
        assert.equal(await page.title(), 'Studio');
        await page.getByRole('main').waitFor();
      }),
    ),
  options,
);

test.run();
