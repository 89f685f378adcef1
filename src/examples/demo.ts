/**
 * Demonstrates the whole flow with the official client: `npm run demo`, or `npm run demo -- --url
 * http://127.0.0.1:2024` for a running server. Its own server uses a temporary data directory and allows loopback
 * webhooks.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { loadConfig } from '../config/load.ts';
import { storeAt } from '../open-store.ts';
import { tellPast } from '../past/tell/command.ts';
import { startServer } from '../serve.ts';

const { values: args } = parseArgs({ options: { url: { type: 'string' } } });

interface Target {
  readonly url: string;
  /** Only for the demo's own server: its data directory, and a promise for its delivered webhook. */
  readonly own?: { readonly data: string; readonly delivered: Promise<void> };
  stop(): Promise<void>;
}

async function ownServer(): Promise<Target> {
  const data = await mkdtemp(join(tmpdir(), 'demo-'));
  const config = fileURLToPath(new URL('../../platform.json', import.meta.url));
  const env = { ...process.env, PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' };
  const server = await startServer(loadConfig({ config, data, port: '0' }, env, process.cwd()), {
    onFault: (error, context) => console.error(context, error),
    onPoisoned: (cause) => console.error(cause),
  });
  const delivered = new Promise<void>((resolve) => {
    server.log.onCommitted(({ events }) => {
      if (events.some(({ type }) => type === 'WebhookDelivered')) resolve();
    });
  });
  return {
    url: server.url,
    own: { data, delivered },
    async stop() {
      await server.stop();
      await rm(data, { recursive: true });
    },
  };
}

/** Starts a receiver for one webhook. */
async function startReceiver() {
  let resolve: (body: string) => void = () => undefined;
  const received = new Promise<string>((done) => (resolve = done));
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.end();
      resolve(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook?token=secret`, received, close: () => server.close() };
}

const say = (title: string): void => console.log(`\n— ${title}`);
const show = (value: unknown): void => console.log(JSON.stringify(value));
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

async function play(target: Target): Promise<void> {
  const client = new Client({ apiUrl: target.url, callerOptions: { maxRetries: 0 } });
  const receiver = await startReceiver();

  say('create a thread');
  const thread = await client.threads.create();
  show(thread);
  const id = thread.thread_id;

  say('stream a run: the metadata frame, words as the graph writes them, the values at the end');
  const stream = client.runs.stream(id, 'words', {
    input: ask('Tell me what a thread is.'),
    streamMode: ['custom', 'values'],
  });
  for await (const { event, data } of stream) console.log(`${event.padEnd(9)} ${JSON.stringify(data)}`);

  say('start a run in the background, with a webhook');
  let webhook: string | undefined = receiver.url;
  const start = () =>
    client.runs.create(id, 'words', {
      input: ask('And what is a run?'),
      ...(webhook !== undefined && { webhook }),
    });
  const run = await start().catch((error: unknown) => {
    console.log(`this server denies loopback receivers: ${String(error)}`);
    webhook = undefined;
    return start();
  });
  show({ run_id: run.run_id, status: run.status });

  say('a second run on the busy thread, with multitask_strategy "reject"');
  await client.runs
    .create(id, 'words', { input: ask('Me too!'), multitaskStrategy: 'reject' })
    .then(show, (error: unknown) => console.log(String(error)));

  say('join the first run');
  show(await client.runs.join(id, run.run_id));

  say('read the state');
  const state = await client.threads.getState<{ messages: { type: string; content: string }[] }>(id);
  for (const { type, content } of state.values.messages) console.log(`${type.padEnd(6)} ${content}`);

  if (webhook !== undefined) {
    say('the webhook that arrived');
    const {
      values: _,
      kwargs: __,
      ...record
    } = JSON.parse(await receiver.received) as Record<string, unknown>;
    show(record);
  }
  receiver.close();

  say("replay the thread's log");
  if (target.own === undefined)
    return console.log(`npm run rewound -- show ${id} --data <the server's data directory>`);
  await target.own.delivered;
  const past = await storeAt(target.own.data).openPast();
  await tellPast(past, id, {}, { folders: [], print: (line) => console.log(line) });
  await past.close();
}

const target: Target =
  args.url === undefined ? await ownServer() : { url: args.url, stop: () => Promise.resolve() };
console.log(`server ${target.url}`);
try {
  await play(target);
} finally {
  await target.stop();
}
