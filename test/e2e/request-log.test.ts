import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { PROJECT } from '../support/with-server.ts';
import { withPrograms } from './programs.ts';

const test = suite('request log');

const ARGS = ['--config', join(PROJECT, 'platform.edge.json')];
const HEADERS = { 'x-request-id': 'r-7', 'x-request-secret': 'canary', 'x-api-key': 'canary' };

test('given LOG_LEVEL=info, when requests come, then each is a line of JSON, with the headers that may be seen', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args: ARGS, env: { LOG_LEVEL: 'INFO' } });
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

test('given LOG_JSON=false, when there is something to say, then it is a line for people', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args: ARGS, env: { LOG_LEVEL: 'info', LOG_JSON: 'false' } });
    await server.ask('GET', '/ok');
    await server.printed(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO request \{"method":"GET","path":"\/agents\/v1\/ok",/m,
    );
  }));

test('given no level, when requests come, then nothing is printed for them', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args: ARGS });
    await server.ask('GET', '/ok');
    await server.end('SIGTERM');
    assert.doesNotMatch(server.output(), /request/);
  }));

test('given a log that nobody reads any more, when the server is told to stop, then it ends, as it serves before', () =>
  withPrograms(async ({ serve, dir }) => {
    // A pipe that is open for reading as well, by nobody who reads: it is full after 64 KiB.
    const pipe = join(dir, 'log');
    const before = `mkfifo '${pipe}' && exec 3<>'${pipe}' 2>&3`;
    const server = await serve({ args: ARGS, env: { LOG_LEVEL: 'info' }, before });
    const path = `/agents/v1/${'x'.repeat(300)}`;
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 20 }, () => server.ask('GET', path)));
    assert.equal((await server.ask('GET', '/ok')).status, 200);
    assert.equal(await server.end('SIGTERM'), null, 'the signal itself has to end it');
  }));

test.run();
