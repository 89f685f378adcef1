import assert from 'node:assert/strict';
import { createPermits } from '../../../src/effects/permits.ts';
import { releaseWhileWaiting } from '../../../src/http/permit-fetch.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/permit-fetch');

const RUN = 'http://x/threads/t/runs/r';

/** A server that answers at once, with a body that a test completes. */
function openServer() {
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
  const asked: string[] = [];
  const ask: typeof fetch = async (input) => {
    asked.push(String(input));
    return new Response(new ReadableStream({ start: (controller) => void bodies.push(controller) }));
  };
  return { ask, asked, bodies };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a permit is released while the body of a waiting reply is read, and none while it is unread', async () => {
  const { ask, bodies } = openServer();
  const permits = createPermits(1);
  const released = (): number => permits.free(1);
  const fetch = releaseWhileWaiting(ask, permits);
  const [read, broken, left] = await Promise.all([1, 2, 3].map(() => fetch(`${RUN}/join`)));
  await turn();
  assert.equal(released(), 0);

  const text = read!.text();
  await turn();
  assert.equal(released(), 1);
  bodies[0]!.enqueue(new TextEncoder().encode('done'));
  bodies[0]!.close();
  assert.equal(await text, 'done');
  assert.equal(released(), 0);

  const failing = assert.rejects(broken!.text(), /broke off/);
  await turn();
  assert.equal(released(), 1);
  bodies[1]!.error(new TypeError('the reply broke off'));
  await failing;
  assert.equal(released(), 0);

  const reader = left!.body!.getReader();
  const reading = reader.read();
  await turn();
  assert.equal(released(), 1);
  await reader.cancel();
  assert.equal((await reading).done, true);
  await turn();
  assert.equal(released(), 0);
});

test('without a permit left, requests that wait for a run get 503 and all others are answered', async () => {
  const { ask, asked } = openServer();
  const permits = createPermits(1);
  for (let times = 0; times < 3; times++) permits.release();
  const fetch = releaseWhileWaiting(ask, permits);
  for (const path of ['http://x/runs/wait', 'http://x/runs/stream', `${RUN}/join`, `${RUN}/stream?from=1`]) {
    const reply = await fetch(path);
    assert.equal(reply.status, 503, path);
    assert.match(((await reply.json()) as { detail: string }).detail, /^Too many runs wait for other runs/);
  }
  const through = ['http://x/ok', RUN, `${RUN}/cancel?wait=true`, 'http://x/threads/t/state'];
  for (const path of through) assert.equal((await fetch(path)).status, 200, path);
  assert.deepEqual(asked, through);
});

test.run();
