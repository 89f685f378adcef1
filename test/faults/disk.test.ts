import * as assert from 'uvu/assert';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { collect, type ReceivedFrame } from '../e2e/frames.ts';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { mountLacking } from './disk/small-disk.ts';
import { readTrace, straceLacking, straceWords, type Call } from './disk/strace.ts';

const test = suite('disk');

/** Files of the process cannot grow beyond this: a write that fails as it does on a full disk or a broken one. */
const LIMIT_KB = 1_500;
const EXIT_POISONED = 70;

interface Promises {
  readonly threads: Map<string, string>;
  readonly runs: Map<string, string>;
  /** Frames that a client has seen, by run. */
  readonly frames: Map<string, ReceivedFrame[]>;
}

/** Asks for changes until one fails; resolves with its status, 0 when the connection broke instead. */
async function ask(
  server: ServerProgram,
  webhook: string | undefined,
  { threads, runs }: Promises,
): Promise<number> {
  const padding = 'x'.repeat(2_000);
  const post = (path: string, body: object) =>
    server.ask('POST', path, body).catch(() => ({ status: 0, json: undefined }));
  for (let i = 0; ; i++) {
    const topic = `topic ${i}`;
    const created = await post('/threads', { metadata: { topic, padding } });
    if (created.status !== 200) return created.status;
    threads.set(created.json.thread_id, topic);
    const run = await post(`/threads/${created.json.thread_id}/runs`, {
      assistant_id: 'echo',
      input: { messages: `${topic} ${padding}` },
      ...(webhook !== undefined && { webhook }),
    });
    if (run.status !== 200) return run.status;
    runs.set(run.json.run_id, created.json.thread_id);
  }
}

async function stream(server: ServerProgram, { frames }: Promises): Promise<void> {
  for (;;) {
    const response = await server
      .open('POST', '/runs/stream', { assistant_id: 'steps', config: { configurable: { count: 20 } } })
      .catch(() => undefined);
    if (response?.status !== 200) return;
    const seen: ReceivedFrame[] = [];
    frames.set(response.headers.get('location')!, seen);
    await collect(response, (frame) => seen.push(frame));
  }
}

test('a failed commit gets 503, the process exits with 70, and acknowledged commits are there (L1, L4)', () =>
  withPrograms(async ({ serve, dir }) =>
    withWebhookSink(async (sink) => {
      const promises: Promises = { threads: new Map(), runs: new Map(), frames: new Map() };
      await (await serve()).end('SIGTERM'); // the file exists and is small
      const server = await serve({ before: `ulimit -f ${LIMIT_KB}` });
      const streams = [stream(server, promises), stream(server, promises)];
      const statuses = await Promise.all([1, 2, 3].map(() => ask(server, sink.url(), promises)));
      assert.ok(statuses.includes(503), `${statuses}`);
      assert.ok(
        statuses.every((status) => status === 503 || status === 0),
        `${statuses}`,
      );
      assert.is(await server.exited, EXIT_POISONED, server.output());
      assert.match(server.output(), 'the last commit is of unknown outcome');
      await Promise.all(streams);
      assert.ok(promises.threads.size > 0 && promises.frames.size > 0);
      const before = new Map(
        sink.received.map(({ headers, body }) => [headers['webhook-id'], body.toString()]),
      );
      assert.ok(sink.received.length < 2 * before.size + 1, 'nothing is sent again and again');
      await assertVerified(join(dir, 'data'));

      const healthy = await serve();
      for (const [thread, topic] of promises.threads)
        assert.is((await healthy.ask('GET', `/threads/${thread}`)).json.metadata.topic, topic);
      for (const [run, thread] of promises.runs) {
        const { messages } = (await healthy.ask('GET', `/threads/${thread}/runs/${run}/join`)).json;
        assert.match(messages[1].content, `echo: ${promises.threads.get(thread)}`);
      }
      for (const [path, seen] of promises.frames) {
        const whole = await collect(await healthy.open('GET', path));
        assert.equal(whole.frames.slice(0, seen.length), seen);
      }
      const owed = new Set(promises.runs.keys());
      for (let n = 1; owed.size > 0; n++) {
        const { headers, body } = (await sink.next(n))[n - 1]!;
        owed.delete(JSON.parse(body.toString()).run_id);
        const first = before.get(headers['webhook-id']);
        if (first !== undefined) assert.is(body.toString(), first);
      }
      await healthy.end('SIGTERM');
      await assertVerified(join(dir, 'data'));
    }),
  ));

/** Changes until one fails, which ends the process; then all that was acknowledged is there for its successor. */
async function failAndComeBack(
  { serve, dir }: Programs,
  { before, heal }: { before?: string; heal?: () => Promise<void> },
): Promise<void> {
  await (await serve()).end('SIGTERM');
  const server = await serve(before === undefined ? {} : { before });
  const promises: Promises = { threads: new Map(), runs: new Map(), frames: new Map() };
  const statuses = await Promise.all([1, 2].map(() => ask(server, undefined, promises)));
  assert.ok(
    statuses.every((status) => status === 503 || status === 0),
    `${statuses}`,
  );
  assert.is(await server.exited, EXIT_POISONED, server.output());
  assert.match(server.output(), 'the last commit is of unknown outcome');
  await heal?.();
  const healthy = await serve();
  for (const [thread, topic] of promises.threads)
    assert.is((await healthy.ask('GET', `/threads/${thread}`)).json.metadata.topic, topic);
  for (const [run, thread] of promises.runs)
    assert.is((await healthy.ask('GET', `/threads/${thread}/runs/${run}/join`)).json.messages.length, 2);
  await healthy.end('SIGTERM');
  await assertVerified(join(dir, 'data'));
}

/** Failed syncs of what was written to the log since the last one that succeeded. */
function lostSyncs(calls: readonly Call[]): number {
  let unsynced = false;
  let lost = 0;
  for (const { name, failed } of calls.filter(({ file }) => file === 'log.db-wal')) {
    if (!name.includes('sync')) unsynced = true;
    else if (failed && unsynced) lost++;
    else if (!failed) unsynced = false;
  }
  return lost;
}

test(
  'a failed sync gets 503, and the process exits with 70 instead of trying again (L1, L4)',
  () =>
    withPrograms(async (programs) => {
      const out = join(programs.dir, 'trace');
      const inject = ['fsync,fdatasync:error=EIO:when=40+'];
      const words = straceWords({ data: join(programs.dir, 'data'), out, inject });
      await failAndComeBack(programs, { before: `set -- ${words.join(' ')} "$@"` });
      // A checkpoint syncs the log again before and after it copies pages: that may fail, for nothing is lost by it.
      assert.is(lostSyncs(readTrace(out)), 1);
    }),
  { lacking: straceLacking() },
);

test('a server whose disk accepts no write from the start names the folder and exits with 70', () =>
  withPrograms(async ({ launchServer, dir }) => {
    const tiny = join(dir, 'tiny');
    const program = launchServer({ before: 'ulimit -f 8', args: ['--data', tiny] });
    assert.is(await program.exited, EXIT_POISONED, program.output());
    assert.match(
      program.output(),
      new RegExp(`^the data directory ${tiny} cannot be written: .*(?:disk|full|I/O)`, 'm'),
    );
  }));

test(
  'a read-only data folder is named and the server exits with 70, with or without a log',
  () =>
    withPrograms(async ({ launchServer, serve, dir }) => {
      const data = join(dir, 'data');
      await mkdir(data);
      const mounts = `mount --bind ${data} ${data} && mount -o remount,ro,bind ${data}`;
      const before = `set -- unshare -m bash -c '${mounts} && exec "$@"' bash "$@"`;
      const refused = async (): Promise<void> => {
        const program = launchServer({ before });
        assert.is(await program.exited, EXIT_POISONED, program.output());
        assert.match(program.output(), `the data directory ${data} cannot be written: `);
      };
      await refused();
      await (await serve()).end('SIGTERM');
      await refused();
    }),
  { lacking: mountLacking() },
);

test.run();
