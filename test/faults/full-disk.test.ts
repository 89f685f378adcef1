import * as assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from '../../src/store/sqlite/connection.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';
import { mountLacking, withSmallDisk } from './disk/small-disk.ts';

const test = suite('full disk');

const MEGABYTES = 32;
const PADDING = 'x'.repeat(2_000);

const create = (server: ServerProgram): ReturnType<ServerProgram['ask']> =>
  server.ask('POST', '/threads', { metadata: { padding: PADDING } });

/** Threads until one is refused; their ids. */
async function createUntilFull(server: ServerProgram): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const { status, json } = await create(server);
    if (status !== 200) {
      assert.equal(status, 507, JSON.stringify(json));
      assert.match(json.detail, /disk of the server is full/);
      return ids;
    }
    ids.push(json.thread_id);
  }
}

const statusOf = async (server: ServerProgram, method: string, path: string): Promise<number> =>
  (await server.ask(method, path)).status;

test(
  'on a full disk reads and deletions work, writes get 507; with room again all works (L1, L4, X5)',
  () =>
    withPrograms(async ({ serve, dir }) => {
      const data = join(dir, 'data');
      await withSmallDisk(data, MEGABYTES, async (disk) => {
        // Given a server with some threads, and a run that has more to say
        const server = await serve();
        const [gate, marks] = [join(dir, 'gate'), join(dir, 'marks')];
        const { thread_id: thread } = (await create(server)).json;
        const { run_id: run } = (
          await server.ask('POST', `/threads/${thread}/runs`, {
            ...{ assistant_id: 'steps', input: { note: PADDING } },
            config: { configurable: { gate, marks, count: 2 } },
          })
        ).json;
        await until('the run begins', async () => existsSync(marks));
        const early: string[] = [];
        for (let i = 0; i < 20; i++) early.push((await create(server)).json.thread_id);
        assert.ok(existsSync(join(data, 'reserve')));
        // When the disk is full
        disk.fill();
        const kept = await createUntilFull(server);
        assert.ok(!existsSync(join(data, 'reserve')));
        await server.printed(/the disk of the data directory \S+ is full: /);
        for (const step of [1, 2]) writeFileSync(`${gate}${step}`, '');
        // Then everything but writing goes on
        assert.equal(await statusOf(server, 'GET', '/ok?check_db=1'), 200);
        for (const id of early.slice(0, 10)) {
          assert.equal(await statusOf(server, 'DELETE', `/threads/${id}`), 204);
          assert.equal(await statusOf(server, 'GET', `/threads/${id}`), 404);
        }
        for (const id of [...kept, ...early.slice(10)])
          assert.equal(await statusOf(server, 'GET', `/threads/${id}`), 200);
        assert.equal((await create(server)).status, 507);
        await until('the run waits for room', async () => {
          const { json } = await server.ask('GET', `/threads/${thread}/runs/${run}`);
          return json.status === 'pending';
        });
        // When there is room again
        disk.free();
        await until('writing goes on', async () => (await create(server)).status === 200);
        // Then the run comes to its end, once
        const { messages } = (await server.ask('GET', `/threads/${thread}/runs/${run}/join`)).json;
        assert.deepEqual(
          messages.map(({ content }: { content: string }) => content),
          ['step 1', 'step 2'],
        );
        assert.ok(existsSync(join(data, 'reserve')));
        assert.match(server.output(), /has room again/);
        assert.equal(await server.end('SIGTERM'), 0, server.output());
        await assertVerified(data);
      });
    }),
  { lacking: mountLacking() },
);

test(
  'a server starts on a full disk, says so, serves reads and deletions, and resumes later (L4, X5)',
  () =>
    withPrograms(async ({ serve, dir }) => {
      const data = join(dir, 'data');
      await withSmallDisk(data, MEGABYTES, async (disk) => {
        // Given a run that executes as its server is killed, and a disk that is full then
        const first = await serve();
        const gate = join(dir, 'gate');
        const { thread_id: thread } = (await create(first)).json;
        const order = { assistant_id: 'gate', config: { configurable: { gate } } };
        const { run_id: run } = (await first.ask('POST', `/threads/${thread}/runs`, order)).json;
        const spare = (await create(first)).json.thread_id;
        await first.end('SIGKILL');
        disk.fill();
        // When the next one starts
        const server = await serve();
        // Then it says so and answers
        await server.printed(/the disk of the data directory \S+ is full: /);
        assert.equal((await create(server)).status, 507);
        assert.equal(await statusOf(server, 'DELETE', `/threads/${spare}`), 204);
        assert.equal((await server.ask('GET', `/threads/${thread}/runs/${run}`)).json.status, 'pending');
        // When there is room again, then the run is executed
        disk.free();
        writeFileSync(gate, '');
        await until('the run ends', async () => {
          const { json } = await server.ask('GET', `/threads/${thread}/runs/${run}`);
          return json.status === 'success';
        });
        assert.equal(await server.end('SIGTERM'), 0, server.output());
        await assertVerified(data);
      });
    }),
  { lacking: mountLacking() },
);

test(
  'backup, restore and export exit with 70 and name the path on a full disk',
  () =>
    withPrograms(async ({ serve, run, dir }) => {
      // Given the log of a server that stopped, and a disk without room
      const data = join(dir, 'data');
      const server = await serve();
      const { thread_id: thread } = (await create(server)).json;
      await server.end('SIGTERM');
      const backup = join(dir, 'log.backup');
      assert.equal((await run({ args: ['backup', '--data', data, backup] })).code, 0);
      const small = join(dir, 'small');
      await withSmallDisk(small, 1, async (disk) => {
        disk.fill();
        for (const [path, args] of [
          [join(small, 'log.backup'), ['backup', '--data', data, join(small, 'log.backup')]],
          [join(small, 'data'), ['restore', backup, '--data', join(small, 'data')]],
          [
            join(small, 'a.rewound'),
            ['export', '--data', data, '--thread', thread, '--output', join(small, 'a.rewound')],
          ],
        ] as const) {
          // When the command writes there
          const { code, output } = await run({ args });
          // Then it says so, and leaves nothing
          assert.equal(code, 70, output);
          assert.ok(output.includes(`${path} cannot be written: `), output);
          assert.ok(!existsSync(args[0] === 'restore' ? join(path, 'log.db') : path));
        }
      });
    }),
  { lacking: mountLacking() },
);

test(
  'import, open and replay of a file exit with 70 on a full disk, and leave no thread',
  () =>
    withPrograms(async ({ serve, run, dir }) => {
      // Given an exported thread, a folder with a log, and a disk with little room
      const server = await serve();
      const { thread_id: thread } = (await create(server)).json;
      await server.ask('POST', `/threads/${thread}/runs/wait`, {
        ...{
          assistant_id: 'echo',
          input: { note: Buffer.from(createRandom(1).bytes(4_000_000)).toString('base64') },
        },
      });
      await server.end('SIGTERM');
      const file = join(dir, 'a.rewound');
      const out = await run({
        args: ['export', '--data', join(dir, 'data'), '--thread', thread, '--output', file],
      });
      assert.equal(out.code, 0, out.output);
      const small = join(dir, 'small');
      await withSmallDisk(small, 6, async (disk) => {
        for (const fill of [false, true]) {
          if (fill) disk.fill();
          for (const args of [
            ['import', file, '--data', join(small, `data${fill}`)],
            ['open', file],
            ['replay', file],
          ]) {
            // When a command needs more room than there is
            const { code, output } = await run({ args, env: { TMPDIR: small } });
            // Then it says so
            assert.equal(code, 70, `${args.join(' ')}: ${output}`);
            assert.match(output, /full|no space/i);
          }
        }
        // And with room again no thread is there
        disk.free();
        const { code, output } = await run({ args: ['verify', '--data', join(small, 'datafalse')] });
        assert.equal(code, 0, output);
        const told = await run({ args: ['replay', '--all', '--ids', '--data', join(small, 'datafalse')] });
        assert.deepEqual([told.code, told.output.includes(thread)], [0, false], told.output);
      });
    }),
  { lacking: mountLacking() },
);

test(
  'on a full disk exports and imports get 507, and their files go (L4)',
  () =>
    withPrograms(async ({ serve, dir }) => {
      const data = join(dir, 'data');
      await withSmallDisk(data, MEGABYTES, async (disk) => {
        const server = await serve();
        const noise = Buffer.from(createRandom(1).bytes(3_000_000)).toString('base64');
        const { thread_id: thread } = (await server.ask('POST', '/threads', { metadata: { noise } })).json;
        const file = await (await server.open('GET', `/threads/${thread}/export`)).bytes();
        disk.fill();
        await createUntilFull(server);
        const upload = await fetch(`${server.url}/threads/import?new_id=true`, {
          method: 'POST',
          body: file,
        });
        assert.deepEqual(
          [upload.status, await statusOf(server, 'GET', `/threads/${thread}/export`)],
          [507, 507],
        );
        disk.free();
        assert.deepEqual(readdirSync(join(data, 'carried')), []);
        assert.equal(await server.end('SIGTERM'), 0, server.output());
      });
    }),
  { lacking: mountLacking() },
);

test(
  'an import that meets a full disk or a kill leaves no part of its thread, and works again (L1, L4, X5)',
  () =>
    withPrograms(async ({ serve, dir }) => {
      // Given the file of a thread that takes more room than there is, and packs well
      const source = await serve({ args: ['--data', join(dir, 'source')] });
      const { thread_id: thread } = (await create(source)).json;
      for (const letter of 'abcd')
        await source.ask('POST', `/threads/${thread}/runs/wait`, {
          ...{ assistant_id: 'echo', input: { note: letter.repeat(3_000_000) } },
        });
      const file = await (await source.open('GET', `/threads/${thread}/export`)).bytes();
      await source.end('SIGTERM');
      const data = join(dir, 'data');
      await withSmallDisk(data, 128, async () => {
        let server = await serve();
        const upload = (): Promise<Response> =>
          fetch(`${server.url}/threads/import`, { method: 'POST', body: file });
        const kept = (await create(server)).json.thread_id as string;
        const [filler, room] = [join(data, 'filler'), statfsSync(data)];
        writeFileSync(filler, Buffer.alloc(room.bavail * room.bsize - 24_000_000));
        // When the disk is full in the middle of an import
        const refused = await upload();
        // Then that is said once, and nothing of the thread is there
        assert.equal(refused.status, 507, await refused.text());
        assert.equal(await statusOf(server, 'GET', `/threads/${thread}`), 404);
        assert.equal(await statusOf(server, 'GET', `/threads/${kept}`), 200);
        // When with room again the process is killed in the middle of the next one
        rmSync(filler);
        let hasEnded = false;
        const broken = upload()
          .then(
            (response) => response.status === 200,
            () => false,
          )
          .finally(() => (hasEnded = true));
        const beside = openConnection(join(data, 'log.db'), { readonly: true });
        const underWay = beside.prepare('SELECT count(*) FROM imports').pluck();
        // It may be over before it is seen.
        await until('the import begins', async () => hasEnded || underWay.get() === 1);
        beside.close();
        await server.end('SIGKILL');
        const isDone = await broken;
        server = await serve();
        // Then all or nothing of it is there, and what is not can be imported
        assert.equal(await statusOf(server, 'GET', `/threads/${thread}`), isDone ? 200 : 404);
        if (!isDone) assert.equal((await upload()).status, 200);
        const { values } = (await server.ask('GET', `/threads/${thread}`)).json;
        assert.equal(values.note, 'd'.repeat(3_000_000));
        assert.equal(await server.end('SIGTERM'), 0, server.output());
        await assertVerified(data);
      });
    }),
  { lacking: mountLacking() },
);

test.run();
