/** Clients that ask for the same large things and take nothing of them, against the real program. `CLIENTS=2000` for the long form. */
import * as assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { collect } from '../e2e/frames.ts';
import { withPrograms } from '../e2e/programs.ts';
import { figuresLacking } from '../support/process-figures.ts';
import { get, heard, openRaw, postJson } from '../support/raw-client.ts';
import { suite } from '../support/suite.ts';
import { growthDuring } from './clients/growth.ts';
import { startOthers } from './clients/others.ts';

const test = suite('clients that are sent the same');
const lacking = figuresLacking();
const MORE = fileURLToPath(new URL('../fixtures/project/platform.more.json', import.meta.url));
const CLIENTS = Number(process.env['CLIENTS'] ?? 180);
const MB = 2 ** 20;

test(
  'readers that stop at one large frame share one copy of it, whichever stream they read (S3)',
  () =>
    withPrograms(async ({ serve }) => {
      const server = await serve({ args: ['--config', MORE] });
      const [count, size] = [3, 5 * MB];
      const order = {
        ...{ assistant_id: 'flood', input: {}, stream_mode: 'custom', on_completion: 'keep' },
        config: { configurable: { count, size } },
      };
      const run = (await server.ask('POST', '/runs', order)).json;
      const thread = `/threads/${run.thread_id}`;
      const path = `${thread}/runs/${run.run_id}`;
      await server.ask('GET', `${path}/join`);
      const others = startOthers(server);
      const slow: Socket[] = [];
      const grown = await growthDuring(server, async () => {
        const wanted = JSON.stringify({ channels: ['custom'], since: 0 });
        const requests = [
          get(`${path}/stream`),
          get(`${thread}/stream`, 'last-event-id: -\r\n'),
          postJson(`${thread}/stream/events`, wanted),
        ];
        const open = async (request: string): Promise<void> => {
          const socket = await openRaw(server.port, request);
          await heard(socket, 'event: custom');
          slow.push(socket.pause());
        };
        await Promise.all(Array.from({ length: CLIENTS }, (_, i) => open(requests[i % 3]!)));
        const fast = await collect(await server.open('GET', `${path}/stream`));
        assert.equal(fast.frames.length, count + 1);
      });
      await others.stop();
      assert.ok(grown < 250 * MB, `${grown / MB} MB more for ${CLIENTS} readers of ${size / MB} MB`);
      for (const socket of slow) socket.destroy();
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test(
  'clients that stop at one large state hold it once between them, whichever way they ask for it (S3)',
  () =>
    withPrograms(async ({ serve }) => {
      const server = await serve();
      const thread = (await server.ask('POST', '/threads', { metadata: { graph_id: 'echo' } })).json
        .thread_id;
      const values = { messages: [{ role: 'user', content: 'x'.repeat(5 * MB) }] };
      assert.equal((await server.ask('POST', `/threads/${thread}/state`, { values })).status, 200);
      const others = startOthers(server);
      const slow: Socket[] = [];
      const grown = await growthDuring(server, async () => {
        const paths = ['', '/state', '/history'].map((path) => `/threads/${thread}${path}`);
        const open = async (path: string): Promise<void> => {
          const socket = await openRaw(server.port, get(path));
          await heard(socket, 'HTTP/1.1 200');
          slow.push(socket.pause());
        };
        await Promise.all(Array.from({ length: CLIENTS }, (_, i) => open(paths[i % 3]!)));
        for (const path of paths) assert.equal((await server.ask('GET', path)).status, 200);
      });
      await others.stop();
      assert.ok(grown < 350 * MB, `${grown / MB} MB more for ${CLIENTS} clients of a state of 5 MB`);
      for (const socket of slow) socket.destroy();
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test.run();
