/** X7 What one attempt is answered, and what the next one is served of it. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { Keeper } from '../../../src/recording/keeper.ts';
import { isCall } from '../../../src/recording/kept-calls.ts';
import { insideSession } from '../../../src/recording/session.ts';
import { suite } from '../../support/suite.ts';
import { attempt, taskAt, withModel } from './attempts.ts';

const test = suite('answers for the next attempt');

const ask = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text();
const viaHttp = (url: string, body: string | (() => string)): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST' }, async (reply) => {
      let text = '';
      for await (const chunk of reply) text += chunk;
      resolve(text);
    });
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : body());
  });

for (const [name, call] of [
  ['fetch', (url: string, body: string) => ask(url, { method: 'POST', body })],
  ['node:http', viaHttp],
] as const)
  test(`answers to requests by ${name} with times and random values in them are served once (X7)`, () =>
    withModel(async (url, asked) => {
      const seen: string[][] = [];
      const work = async (): Promise<void> => {
        const body = (): string => JSON.stringify([Date.now(), randomUUID(), Math.random()]);
        const first = await call(url, body());
        seen.push([
          first,
          ...(await Promise.all([call(url, 'same'), call(url, 'same')])),
          await call(url, body()),
        ]);
      };
      // when
      const one = await attempt(work);
      const two = await attempt(work, [one]);
      const three = await attempt(work, [one, two]);
      // then
      assert.deepEqual(seen[1], seen[0]);
      assert.deepEqual(seen[2], seen[0]);
      assert.equal(asked.length, 4);
      assert.deepEqual(three.keeper.repeated(), [{ node: 'model', served: [1, 2, 3, 4], again: [] }]);
      await attempt(() => call(url, 'new'), [one, two, three]);
      assert.equal(asked.length, 5);
    }));

test('an answer is served where the body was made after the request was opened (X7)', () =>
  withModel(async (url, asked) => {
    const body = (): string => JSON.stringify([Date.now(), performance.now(), randomUUID()]);
    const work = (): Promise<string> => viaHttp(url, body);
    // when
    const one = await attempt(work);
    await attempt(work, [one]);
    // then
    assert.equal(asked.length, 1);
  }));

test('a call without an answer is asked again, and those after it are served', () =>
  withModel(async (url, asked) => {
    const work = async (): Promise<void> => {
      await ask(`${url}/a`);
      await Promise.all([ask(`${url}/b`), ask(`${url}/c`)]);
    };
    const one = await attempt(work);
    // when: the worker died before the second call was answered
    const parts = one.parts.filter((part) => !isCall(part) || part.asked !== 2);
    const two = await attempt(work, [{ ...one, parts }]);
    // then
    assert.deepEqual(asked.slice(3), ['/b']);
    assert.deepEqual(two.keeper.repeated(), [{ node: 'model', served: [1, 3], again: [2] }]);
    // A third attempt is served what the second was answered.
    await attempt(work, [one, two]);
    assert.equal(asked.length, 4);
  }));

test('of equal requests each gets the answer of its own place, also when an earlier one has none', () =>
  withModel(async (url, asked) => {
    const seen: string[][] = [];
    const work = async (): Promise<void> => void seen.push([await ask(url), await ask(url), await ask(url)]);
    const one = await attempt(work);
    // when
    const parts = one.parts.filter((part) => !isCall(part) || part.asked !== 1);
    await attempt(work, [{ ...one, parts }]);
    // then
    assert.deepEqual(seen, [
      ['answer 1', 'answer 2', 'answer 3'],
      ['answer 4', 'answer 2', 'answer 3'],
    ]);
    assert.equal(asked.length, 4);
  }));

test('refusals are served when the code went on after them; the last one is asked anew', () => {
  const failing = new Set([1, 2]);
  return withModel(
    async (url, asked) => {
      const statuses: number[][] = [];
      const once = async (): Promise<number> => (await fetch(url)).status;
      const retrying = async (): Promise<void> => {
        const own: number[] = [];
        for (let tries = 0; tries < 4 && own.at(-1) !== 200; tries++) own.push(await once());
        statuses.push(own);
      };
      // given: the worker died after the second refusal
      const one = await attempt(async () => void (await once(), await once()));
      // when
      const two = await attempt(retrying, [one]);
      await attempt(retrying, [one, two]);
      // then
      assert.deepEqual(statuses, [
        [503, 200],
        [503, 200],
      ]);
      assert.equal(asked.length, 3);
    },
    (_, reply, count) => void reply.writeHead(failing.has(count) ? 503 : 200).end(),
  );
});

test('a poll goes on after the answers that it was served', () =>
  withModel(
    async (url, asked) => {
      const poll = async (): Promise<void> => {
        while ((await ask(url)) !== 'ready');
      };
      const one = await attempt(async () => void (await ask(url), await ask(url)));
      const two = await attempt(poll, [one]);
      assert.equal(asked.length, 4);
      assert.deepEqual(two.keeper.repeated()[0]!.served, [1, 2]);
    },
    (_, reply, count) => void reply.end(count < 4 ? 'wait' : 'ready'),
  ));

test('tokens and sessions are asked for again, and so are requests that the code breaks off', () =>
  withModel(
    async (url, asked) => {
      const work = async (): Promise<void> => {
        const form = { method: 'POST', body: 'grant_type=client_credentials&id=1' };
        await ask(`${url}/grant`, form);
        await ask(`${url}/token`);
        await ask(`${url}/login`);
        await ask(`${url}/proxy`);
        await ask(`${url}/text`);
        const controller = new AbortController();
        const open = fetch(`${url}/hang`, { signal: controller.signal });
        while (!asked.includes('/hang')) await new Promise(setImmediate);
        controller.abort();
        await assert.rejects(open);
      };
      const one = await attempt(work);
      asked.length = 0;
      // when
      await attempt(work, [one]);
      // then
      assert.deepEqual(asked, ['/grant', '/token', '/login', '/hang']);
    },
    ({ url }, reply) => {
      if (url === '/hang') return;
      if (url === '/login') reply.setHeader('set-cookie', 'session=1');
      if (url === '/proxy') reply.setHeader('set-cookie', '__cf_bm=1; path=/');
      const body = { '/token': { access_token: 'x' }, '/text': { text: 'send {"access_token": 1}' } }[url!];
      reply.end(JSON.stringify(body ?? {}));
    },
  ));

test('after two attempts that died without a new answer nothing is served', () =>
  withModel(async (url, asked) => {
    const work = (): Promise<string> => ask(url);
    const one = await attempt(work);
    await attempt(work, [one], { charges: 2 });
    assert.equal(asked.length, 1);
    // when
    const four = await attempt(work, [one], { charges: 3 });
    // then
    assert.equal(asked.length, 2);
    // The new answer counts again.
    await attempt(work, [four], { charges: 4 });
    assert.equal(asked.length, 2);
  }));

test('beyond the limit of a run calls are asked again; a root checkpoint makes room', () =>
  withModel(
    async (url, asked) => {
      const work = async (): Promise<void> => {
        for (const call of ['a', 'b', 'c']) await ask(`${url}/${call}`);
      };
      const small = { maxBytes: 6_000 };
      const one = await attempt(work, [], small);
      await attempt(work, [one], small);
      assert.deepEqual(asked.slice(3), ['/c']);
      one.keeper.saved('next');
      const before = one.parts.length;
      await insideSession(one.keeper, () => ask(`${url}/d`));
      assert.ok(one.parts.length > before);
    },
    // Incompressible.
    (_, reply) => void reply.end(randomBytes(2_000)),
  ));

test('where ids of inner tasks differ, those of the same names take their places', () =>
  withModel(async (url, asked) => {
    const work = (): Promise<string> => ask(url);
    const one = await attempt(work, [], { task: taskAt('sub:1|model:2') });
    await attempt(work, [one], { task: taskAt('sub:1|model:3') });
    assert.equal(asked.length, 1);
    await attempt(work, [one], { task: taskAt('sub:1|other:3', 'other') });
    assert.equal(asked.length, 2);
  }));

test('clocks go on after the readings of the earlier attempt: dates with the real time, others from there', async () => {
  await withModel(async (url) => {
    const seen: { date: number; ms: number; later: number }[] = [];
    const work = async (): Promise<void> => {
      const [date, ms] = [Date.now(), performance.now()];
      await ask(url);
      seen.push({ date, ms, later: Date.now() });
    };
    const one = await attempt(work);
    const between = Date.now();
    await attempt(work, [one]);
    assert.equal(seen[1]!.date, seen[0]!.date);
    assert.equal(seen[1]!.ms, seen[0]!.ms);
    assert.ok(seen[1]!.later >= between);
  });
});

test('a task reads from the item store what it read before its last call that is kept', () =>
  withModel(async (url, asked) => {
    const get = { kind: 'get', namespace: ['a'], key: 'n' };
    let stored = 0;
    const seen: unknown[][] = [];
    const work = async (keeper: Keeper): Promise<void> => {
      const read = async (): Promise<unknown> => (await keeper.read([get], async () => [stored]))[0];
      const own = [await read(), stored++ > -1, await read()];
      await ask(`${url}/${own.join()}`);
      seen.push([...own, await read()]);
    };
    // when
    const one = await attempt(work);
    await attempt(work, [one]);
    // then
    assert.deepEqual(seen, [
      [0, true, 1, 1],
      [0, true, 1, 2],
    ]);
    assert.equal(asked.length, 1);
  }));

test('an attempt without calls keeps nothing', async () => {
  const { parts } = await attempt(async () => void [Date.now(), randomUUID()]);
  assert.deepEqual(parts, []);
});

test.run();
