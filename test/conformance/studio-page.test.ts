import * as assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config } from './scene.ts';

const test = suite('conformance: the page of the studio');

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Status, headers and bytes as they are on the wire. */
const fetchRaw = (s: TestServer, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const url = new URL(s.url);
    send({
      hostname: url.hostname,
      port: url.port,
      path: `${url.pathname.replace(/\/$/, '')}${path}`,
      headers,
      method,
    })
      .on('error', reject)
      .on('response', async (reply) => {
        const parts = await reply.toArray();
        resolve({ status: reply.statusCode!, headers: reply.headers, bytes: Buffer.concat(parts) });
      })
      .end();
  });

test('all paths of the studio are one page that allows only its own origin', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const page = await fetchRaw(s, '/studio');
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(
      String(page.headers['content-security-policy']),
      /^default-src 'self';.*frame-ancestors 'none'/,
    );
    for (const path of ['/studio/', '/studio/threads/any?v=3', '/studio/no/such']) {
      const other = await fetchRaw(s, path);
      assert.deepEqual([other.status, other.bytes.toString()], [200, page.bytes.toString()], path);
    }
    const etag = String(page.headers['etag']);
    const again = await fetchRaw(s, '/studio', { 'if-none-match': etag });
    assert.deepEqual([again.status, again.bytes.length], [304, 0]);
    assert.equal((await fetchRaw(s, '/studio', {}, 'POST')).status, 405);
    assert.equal((await fetchRaw(s, '/studio', {}, 'HEAD')).status, 200);
  }));

test('scripts and styles of the studio have hashed names and are kept by browsers', () =>
  withServer({}, async (s) => {
    const page = (await fetchRaw(s, '/studio')).bytes.toString();
    const assets = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => `/studio/${path}`);
    assert.equal(assets.length, 2);
    for (const path of assets) {
      const { status, headers } = await fetchRaw(s, path, { 'accept-encoding': 'gzip, br' });
      assert.deepEqual(
        [status, headers['cache-control']],
        [200, 'public, max-age=31536000, immutable'],
        path,
      );
    }
    const missing = await fetchRaw(s, '/studio/assets/index-OLDHASH.js');
    assert.deepEqual([missing.status, missing.bytes.toString()], [404, '{"detail":"Not found"}']);
  }));

test('the root redirects browsers to the studio and answers other clients as before', () =>
  withServer({}, async (s) => {
    const redirected = await fetchRaw(s, '/', BROWSER);
    assert.deepEqual([redirected.status, redirected.headers['location']], [302, '/studio']);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', ''])
      assert.match((await fetchRaw(s, '/', { accept })).bytes.toString(), /^\{"ok":true,/, accept);
    assert.equal((await fetchRaw(s, '/')).status, 200);
  }));

test('below a mount prefix the studio refers to files below the prefix', () =>
  withServer({ env: { MOUNT_PREFIX: '/agents' } }, async (s) => {
    assert.match((await fetchRaw(s, '/studio')).bytes.toString(), /<base href="\/agents\/studio\/"/);
    assert.equal((await fetchRaw(s, '/', BROWSER)).headers['location'], '/agents/studio');
  }));

test('on loopback the studio refuses names of other hosts', () =>
  withServer({}, async (s) => {
    const { port } = new URL(s.url);
    for (const host of [`localhost:${port}`, '127.0.0.1', '[::1]:80', 'rewound.localhost'])
      assert.equal((await fetchRaw(s, '/studio', { host })).status, 200, host);
    for (const host of ['evil.example', `localhost.evil.example:${port}`, '10.0.0.1']) {
      const { status, bytes } = await fetchRaw(s, '/studio/assets/a.js', { host });
      assert.equal(status, 421, host);
      assert.match(bytes.toString(), /^\{"detail":"host: expected localhost[^\n]*"\}$/);
    }
  }));

test('http.disable_studio removes the studio and the redirect to it', () =>
  withServer({}, async (s) => {
    await s.restart({ http: { ...s.config.http, disabled: new Set(['studio']) } });
    assert.equal((await fetchRaw(s, '/studio')).status, 404);
    assert.equal((await fetchRaw(s, '/', BROWSER)).status, 200);
  }));

test.run();
