import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { withPrograms } from './programs.ts';

const test = suite('request log');

const PROJECT = fileURLToPath(new URL('../fixtures/project/', import.meta.url));

const ARGS = ['--config', join(PROJECT, 'platform.edge.json')];
const HEADERS = { 'x-request-id': 'r-7', 'x-request-secret': 'canary', 'x-api-key': 'canary' };

test('at LOG_LEVEL=debug each request is a line of JSON with the headers that may be seen', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args: ARGS, env: { LOG_LEVEL: 'DEBUG' } });
    await server.ask('GET', '/info?token=canary', undefined, HEADERS);
    const [line] = await server.printed(/^\{.*"msg":"request".*\}$/m);
    const { level, time, pid, hostname, ms, ...rest } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual(rest, {
      method: 'GET',
      path: '/agents/v1/info',
      status: 200,
      headers: { 'x-request-id': 'r-7' },
      msg: 'request',
    });
    assert.ok(!server.output().includes('canary'));
    assert.equal(typeof ms, 'number');
  }));

test('at the default level only requests that fail with 500 or more are in the log', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args: ['--config', join(PROJECT, 'platform.app.json')] });
    // when: requests succeed, are refused and fail
    const statuses: number[] = [];
    for (const path of ['/ok', '/custom/error', '/custom/fault'])
      statuses.push((await server.ask('GET', path)).status);
    await server.end('SIGTERM');
    // then
    assert.deepEqual(statuses, [200, 400, 500]);
    const lines = server.output().match(/^\{.*"msg":"request".*\}$/gm) ?? [];
    assert.deepEqual(
      lines.map((line) => [JSON.parse(line).path, JSON.parse(line).status]),
      [['/custom/fault', 500]],
    );
  }));

test('a run that fails is one line with its ids and stack, or with LOG_JSON=false a block with its source line', () =>
  withPrograms(async ({ serve }) => {
    const body = { assistant_id: 'breaks', input: {} };
    for (const json of ['true', 'false']) {
      const args = ['--config', join(PROJECT, 'platform.json')];
      const server = await serve({ args, env: { LOG_JSON: json, LOG_LEVEL: 'debug' } });
      await server.ask('POST', '/runs/wait', body);
      if (json === 'false') {
        await server.printed(/^\[[\d:.]+\] DEBUG: request method=POST path=\/runs\/wait .*status=200/m);
        await server.printed(
          /ERROR: run failed: graph "breaks", node "bad", step 1, attempt 1, after \d+ ms\n {4}thread .+\n {4}run .+\n {4}NodeError: the node broke\n {4}at \/\S*\/agent\.ts:\d+:11$/m,
        );
      } else {
        const [line] = await server.printed(/^\{.*"msg":"run failed".*\}$/m);
        const { exception, ...members } = JSON.parse(line) as { exception: { stack: string } };
        assert.match(exception.stack, /agent\.ts:\d+:11/);
        for (const name of ['graph_id', 'assistant_id', 'thread_id', 'run_id', 'run_attempt', 'at', 'node'])
          assert.ok(name in members, name);
        for (const name of ['run_queue_ms', 'run_exec_ms', 'run_wait_time_ms'])
          assert.equal(typeof (members as Record<string, unknown>)[name], 'number', name);
      }
      await server.end('SIGTERM');
      assert.match(server.output(), /stopped/);
    }
  }));

test('a server whose log has no reader any more still stops when it is told to', () =>
  withPrograms(async ({ serve, dir }) => {
    // A pipe that is open for reading as well, by nobody who reads: it is full after 64 KiB.
    const pipe = join(dir, 'log');
    const before = `mkfifo '${pipe}' && exec 3<>'${pipe}' 2>&3`;
    const server = await serve({ args: ARGS, env: { LOG_LEVEL: 'debug' }, before });
    const path = `/agents/v1/${'x'.repeat(300)}`;
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 20 }, () => server.ask('GET', path)));
    assert.equal((await server.ask('GET', '/ok')).status, 200);
    assert.equal(await server.end('SIGTERM'), null, 'the signal itself has to end it');
  }));

test.run();
