/** Secrets of runs, sent in all ways: no file, report, console or webhook has a byte of one. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import { storeAt } from '../../src/open-store.ts';
import { plainBody } from '../../src/recording/bodies.ts';
import type { RecordingPart } from '../../src/recording/parts.ts';
import { unpackPart } from '../../src/recording/unpack.ts';
import {
  ALL,
  CONTEXT,
  ENV,
  HEADERS,
  OF_ASSISTANT,
  SETTINGS,
  USER_TEXTS,
} from '../fixtures/secrets/canaries.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withPrograms } from './programs.ts';

const test = suite('secrets of runs');

const CONFIG = fileURLToPath(new URL('../fixtures/secrets', import.meta.url));
const MODES = ['values', 'updates', 'tasks', 'debug', 'checkpoints'];

/** What stays of a secret in base64, wherever within the encoded text it begins. */
const coresOf = (secret: string): string[] =>
  [0, 1, 2].map((before) => {
    const text = Buffer.from('\0'.repeat(before) + secret).toString('base64');
    return text.slice(
      Math.ceil((before * 8) / 6),
      Math.floor(((before + Buffer.byteLength(secret)) * 8) / 6),
    );
  });

const FORMS = ALL.flatMap((secret) => [
  ...[
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  ],
  ...[new URLSearchParams([['', secret]]).toString().slice(1), ...coresOf(secret)],
  ...coresOf(secret).map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
]).map((form) => [form, Buffer.from(form)] as const);

function assertClean(bytes: Buffer | string, where: string): void {
  const all = Buffer.from(bytes);
  assert.ok(all.length > 0, `${where} is empty`);
  for (const [form, searched] of FORMS) {
    const at = /^\d+$/.test(form)
      ? all.toString('latin1').search(new RegExp(`(?<![\\d.])${form}(?![\\d.])`))
      : all.indexOf(searched);
    assert.ok(at < 0, `${where} has ${form}: ${all.toString('utf8', Math.max(0, at - 200), at + 100)}`);
  }
}

const textOfPart = (part: RecordingPart): string => {
  if (part.kind !== 'exchange') return JSON.stringify(part);
  const { request, answer } = part;
  const encoding = answer?.headers.find(([name]) => name === 'content-encoding')?.[1];
  const bodies = [request.body, answer && plainBody(answer.body, encoding)];
  return [JSON.stringify(part), ...bodies.map((body) => Buffer.from(body ?? []).toString())].join('\n');
};

/** Sends back what it gets: in two chunks, encoded, in the reason phrase, in a header. */
function answer({ url, body }: ReceivedRequest, response: any): void {
  const { pathname, searchParams } = new URL(url, 'http://model');
  if (pathname === '/moved') {
    const to = searchParams.get('to')!;
    response
      .writeHead(303, `Moved ${to}`, { location: `/next?at=${encodeURIComponent(to)}`, 'x-echo': to })
      .end();
    return;
  }
  const encoding = pathname.split('/')[2] ?? '';
  const encode = { gzip: zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync }[encoding];
  const bytes = !pathname.startsWith('/echo') ? Buffer.from('{}') : (encode?.(body) ?? body);
  response.writeHead(200, { 'content-type': 'text/plain', ...(encode && { 'content-encoding': encoding }) });
  response.write(bytes.subarray(0, bytes.length / 2));
  setImmediate(() => response.end(bytes.subarray(bytes.length / 2)));
}

test('40 secrets sent in 20 ways are in no log file, export, recording, HAR, report, console or webhook (A4, R4)', () =>
  withWebhookSink((sink) =>
    withPrograms(async (programs) => {
      // given
      sink.otherwise((request, response) => answer(request, response));
      const data = join(programs.dir, 'data');
      const env = {
        MODEL_URL: sink.url('').replace(/\/$/, ''),
        ...ENV,
        PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true',
      };
      const server = await programs.serve({ args: ['--config', CONFIG], env });
      const ask = async (method: string, path: string, body?: object) =>
        (await server.ask(method, path, body, HEADERS)).json;
      const assistant = await ask('POST', '/assistants', {
        graph_id: 'sends',
        config: { configurable: OF_ASSISTANT },
      });
      const { thread_id: thread } = await ask('POST', '/threads', {});
      const settings = {
        config: { configurable: { ...SETTINGS } },
        context: CONTEXT,
        stream_mode: MODES,
        webhook: sink.url('/hook'),
      };
      const replies: string[] = [];
      for (const graph of [assistant.assistant_id, 'fails']) {
        const own = graph === 'fails' ? { configurable: { ...SETTINGS, ...OF_ASSISTANT } } : settings.config;
        const run = await ask('POST', `/threads/${thread}/runs`, {
          assistant_id: graph,
          input: {},
          ...settings,
          config: own,
        });
        const reply = await server.open(
          'GET',
          `/threads/${thread}/runs/${run.run_id}/stream`,
          undefined,
          HEADERS,
        );
        replies.push(await reply.text());
        await ask('GET', `/threads/${thread}/runs/${run.run_id}/join`);
      }
      const { values } = await ask('GET', `/threads/${thread}/state`);
      assert.equal(values.plan, 'enterprise');
      assert.equal(values.echoed.length, 2 * ALL.length + 5 + 2 + 3 + 1, JSON.stringify(values.echoed));
      replies.push(
        JSON.stringify(await ask('GET', `/threads/${thread}/runs`)),
        JSON.stringify(await ask('GET', `/threads/${thread}/state`)),
      );
      const exported = Buffer.from(
        await (await server.open('GET', `/threads/${thread}/export`, undefined, HEADERS)).arrayBuffer(),
      );
      const hooks = () => sink.received.filter(({ url }) => url === '/hook');
      for (let n = sink.received.length; hooks().length < 2; n++) await sink.next(n);
      await server.end('SIGTERM');
      // when
      const har = join(programs.dir, 'run.har');
      const past = await storeAt(data).openPast();
      const [fails, sends] = (await past.payloads.outline(thread))
        .map(({ runId }) => runId)
        .filter((id, at, all) => all.indexOf(id) === at);
      const parts = await Promise.all(
        [sends!, fails!].map(async (id) => (await past.payloads.recording(id)).map(unpackPart)),
      );
      await past.close();
      const replay = (args: readonly string[], more = {}) =>
        programs.run({
          args: ['replay', '--config', CONFIG, '--data', data, ...args],
          env: { ...env, ...more },
        });
      const of = ['--execute', '--thread', thread, '--run', sends!];
      const again = await replay(['--execute', '--thread', thread]);
      const planted = await replay([...of, '--json'], {
        PLANTED: 'request',
        CANARY_TOKEN: 'another-env-token',
      });
      const written = await replay([...of, '--har', har]);
      const told = await replay(['--thread', thread, '--json']);
      // then
      assert.match(again.output, /2 equal, 0 different, 0 not tried/);
      assert.equal(planted.code, 1, planted.output);
      assert.match(planted.output, /\/planted/);
      assert.equal(written.code, 0, written.output);
      for (const { request, response } of JSON.parse(readFileSync(har, 'utf8')).log.entries)
        assert.ok(URL.canParse(request.url) && typeof response.content.text === 'string');
      assert.match(readFileSync(har, 'utf8'), /echo\/gzip[^]*"text": "\{\\"secrets/);
      const exchanges = parts.flat().filter((part) => part.kind === 'exchange');
      assert.ok(exchanges.length > 2 * ALL.length + 20, String(exchanges.length));
      const packed = exported.subarray(exported.indexOf('\n') + 1, exported.lastIndexOf('\nsha256'));
      assertClean(parts.flat().map(textOfPart).join('\n'), 'a recording');
      assertClean(zlib.zstdDecompressSync(packed), 'the export');
      assertClean(readFileSync(har), 'the HAR');
      assertClean([again, planted, written, told].map(({ output }) => output).join('\n'), 'a report');
      assertClean(server.output(), 'the console');
      assertClean(
        hooks()
          .map(({ body }) => body.toString())
          .join('\n'),
        'a webhook',
      );
      assertClean(replies.join('\n'), 'a reply');
      // The assistant's configuration is the client's: its own events hold it as it is.
      const ofAssistant = new Set(Object.values(OF_ASSISTANT));
      const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      for (const { parentPath, name } of files) {
        const bytes = readFileSync(join(parentPath, name));
        // Digits occur in times and ids.
        const found = FORMS.filter(([form]) => !ofAssistant.has(form) && !/^[\d.]+$/.test(form)).find(
          ([, searched]) => bytes.includes(searched),
        );
        assert.equal(found?.[0], undefined, name);
      }
    }),
  ));

test('a run that keeps secrets in its state, frames and items executes again with no difference (R3)', () =>
  withWebhookSink((sink) =>
    withPrograms(async (programs) => {
      // given
      sink.otherwise((request, response) => answer(request, response));
      const env = { MODEL_URL: sink.url('').replace(/\/$/, ''), ...ENV };
      const server = await programs.serve({ args: ['--config', CONFIG], env });
      const body = {
        ...{
          assistant_id: 'keeps',
          input: { echoed: [`for ${USER_TEXTS[0]}`] },
          stream_mode: [...MODES, 'custom'],
        },
        config: { configurable: { ...SETTINGS, ...OF_ASSISTANT } },
      };
      const { thread_id: thread } = (await server.ask('POST', '/threads', {}, HEADERS)).json;
      const { json } = await server.ask('POST', `/threads/${thread}/runs/wait`, body, HEADERS);
      assert.ok(json.echoed.includes(USER_TEXTS[1]), "the state is the code's own");
      // when
      const replay = (more: object) =>
        programs.run({
          args: [
            'replay',
            '--execute',
            '--thread',
            thread,
            '--config',
            CONFIG,
            '--data',
            join(programs.dir, 'data'),
          ],
          env: { ...env, ...more },
        });
      const [same, planted] = [await replay({}), await replay({ PLANTED: 'kept' })];
      // then
      assert.equal(same.code, 0, same.output);
      assert.equal(planted.code, 1, planted.output);
    }),
  ));

test.run();
