/** What a built program serves of the studio: the page and the files that it refers to, compressed beforehand. */
import * as assert from 'node:assert/strict';

export async function assertStudio(url: string): Promise<void> {
  const page = await fetch(`${url}/`, { headers: { accept: 'text/html' } });
  assert.deepEqual([page.status, page.url], [200, `${url}/studio`]);
  const files = [...(await page.text()).matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(files.some((path) => path.endsWith('.js')) && files.some((path) => path.endsWith('.css')));
  for (const path of files) {
    const { status, headers } = await fetch(`${url}/studio/${path}`, {
      headers: { 'accept-encoding': 'br' },
    });
    assert.deepEqual([status, headers.get('content-encoding')], [200, 'br'], path);
  }
}
