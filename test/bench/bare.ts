/**
 * Servers that do as little as a server can, to see what is left for whoever does more: they read a body and answer,
 * without a contract, a user, a query or a failure. They keep rows as durably as this server does, when they keep any.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { Database } from '../../src/store/sqlite/library.ts';
import { Hono } from 'hono';
import type { BareOrder } from './figures.ts';

/** How many threads run the engine, as in this server on two cores. */
const WORKERS = 2;

/** A thread begins without the loader of its process. */
const ENTRY = `(await import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})).register();
await import(${JSON.stringify(new URL('./bare-worker.ts', import.meta.url).href)});`;

/** Resolves when what is given is on the disk: one commit for all that came since the last. */
function openRows(dir: string): (text: string) => Promise<void> {
  const db = new Database(`${dir}/rows.db`);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  const insert = db.prepare('INSERT INTO rows (text) VALUES (?)');
  let waiting: { text: string; done: () => void }[] = [];
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    db.transaction(() => batch.forEach(({ text }) => insert.run(text)))();
    for (const { done } of batch) done();
  };
  return (text) =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ text, done });
    });
}

/** Runs the engine with its saver in memory; resolves with the state as text. */
function openEngine(): (text: string) => Promise<string> {
  const waiting = new Map<number, (text: string) => void>();
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(ENTRY)}`));
    worker.on('message', ([id, text]: [number, string]) => {
      waiting.get(id)?.(text);
      waiting.delete(id);
    });
    return worker;
  });
  let last = 0;
  return (text) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      workers[last % WORKERS]!.postMessage([last, text]);
    });
}

function open({ what, dir }: BareOrder): Server {
  if (what === 'http')
    return createServer((request, response) => {
      request.resume();
      request.on('end', () => response.end('{}'));
    });
  const keep = what === 'rows' || what === 'engine and rows' ? openRows(dir) : undefined;
  const run = what === 'engine' || what === 'engine and rows' ? openEngine() : undefined;
  const app = new Hono();
  app.post('*', async (c) => {
    const body = JSON.stringify(await c.req.json());
    // Accepted before it begins, ended before it is told.
    await keep?.(body);
    if (run === undefined) return c.body(body, 200, { 'content-type': 'application/json' });
    const state = await run(body);
    await keep?.(state);
    return c.body(state, 200, { 'content-type': 'application/json' });
  });
  return createAdaptorServer({ fetch: app.fetch }) as Server;
}

process.once('message', (order: BareOrder) => {
  const server = open(order);
  server.listen(0, '127.0.0.1', () =>
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
});
