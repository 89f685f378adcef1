import assert from 'node:assert/strict';
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

test.run();
