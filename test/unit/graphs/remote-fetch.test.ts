import assert from 'node:assert/strict';
import { createLocalFetch } from '../../../src/graphs/pool/local-fetch.ts';
import { publishRemoteFetch } from '../../../src/graphs/pool/remote-fetch.ts';
import type { ServerSide, WireReply } from '../../../src/graphs/pool/sides.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/remote-fetch');

const FETCH = Symbol.for('langgraph_api:fetch');
const URL_BASE = Symbol.for('langgraph_api:url');

/** Lends a client over a server that answers when it is told to. */
async function withClient(
  use: (ask: typeof fetch, waiting: { url: string; answer(): void }[]) => Promise<void>,
): Promise<void> {
  const waiting: { url: string; answer(): void }[] = [];
  const openReply: ServerSide['openReply'] = (_id, { url }) =>
    new Promise<WireReply>((resolve) =>
      waiting.push({
        url,
        answer: () => resolve({ status: 200, statusText: '', headers: [], hasBody: false }),
      }),
    );
  const shared = globalThis as Record<symbol, unknown>;
  publishRemoteFetch(
    { openReply, readReply: async () => null, dropReply: async () => undefined },
    'http://x',
  );
  try {
    await use(shared[FETCH] as typeof fetch, waiting);
  } finally {
    delete shared[FETCH];
    delete shared[URL_BASE];
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('X4 given a graph that asks its server a thousand things in one breath, when they go out, then few are under way at once, and those given up meanwhile never', () =>
  withClient(async (ask, waiting) => {
    const giveUp = new AbortController();
    const given = Array.from({ length: 1_000 }, (_, i) =>
      ask(`/${i}`, i % 2 === 0 ? {} : { signal: giveUp.signal }).then(
        ({ status }) => status,
        (error: Error) => error.name,
      ),
    );
    await turn();
    assert.equal(waiting.length, 64);
    giveUp.abort();
    let answered = 0;
    for (; answered < waiting.length; answered++) {
      assert.ok(waiting.length - answered <= 64);
      waiting[answered]!.answer();
      await turn();
    }
    const ends = await Promise.all(given);
    assert.deepEqual(
      ends,
      ends.map((_, i) => (i % 2 === 0 ? 200 : 'AbortError')),
    );
    // The first were under way when they were given up.
    assert.equal(answered, 32 + 500);
  }));

test('X4 given workers that ask a hundred things at once, when the server answers, then it does one in each turn of its event loop', async () => {
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return new Response(null, { status: 204 });
  };
  const sides = [createLocalFetch(ask), createLocalFetch(ask)];
  const question = { url: 'http://x/ok', method: 'GET', headers: [] };
  const replies = Array.from({ length: 100 }, (_, id) => sides[id % 2]!.openReply(id, question));
  for (let before = 0; before < 100; before = asked) {
    await turn();
    assert.ok(asked <= before + 1, `${asked - before} in one turn`);
  }
  assert.deepEqual(new Set((await Promise.all(replies)).map(({ status }) => status)), new Set([204]));
});

test.run();
