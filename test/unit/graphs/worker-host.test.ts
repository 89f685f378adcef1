import assert from 'node:assert/strict';
import type { InProcessGraphs } from '../../../src/graphs/in-process.ts';
import type { Guard } from '../../../src/graphs/pool/guard.ts';
import type { ServerSide } from '../../../src/graphs/pool/sides.ts';
import { createWorkerHost } from '../../../src/graphs/pool/worker-host.ts';
import type { RunOrder } from '../../../src/graphs/port.ts';
import type { GraphDescriber } from '../../../src/graphs/schema-port.ts';
import type { StoreRequest } from '../../../src/graphs/store-port.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/worker-host');

test('X4 given a graph that asks its store for a thousand things in one breath, when they go to the server, then few are under way at once and all are answered', async () => {
  let under = 0;
  let most = 0;
  const batch: ServerSide['batch'] = async (_job, [request]) => {
    most = Math.max(most, ++under);
    await new Promise((resolve) => setImmediate(resolve));
    under -= 1;
    const { namespace, key } = request as Extract<StoreRequest, { kind: 'get' }>;
    return [{ namespace, key, data: '{}', createdAt: 0, updatedAt: 0 }];
  };
  const keys: unknown[] = [];
  const host: Pick<InProcessGraphs, 'run'> = {
    async run(_order, { store }) {
      const asked = Array.from({ length: 1_000 }, (_, i) =>
        store.batch([{ kind: 'get', namespace: ['a'], key: `k${i}` }]),
      );
      for (const [answer] of await Promise.all(asked))
        keys.push(answer !== null && 'key' in answer! ? answer.key : answer);
      return { kind: 'success', next: [], interrupts: {} };
    },
  };
  const { run } = createWorkerHost({
    host: host as InProcessGraphs,
    describer: {} as GraphDescriber,
    server: { batch } as ServerSide,
    guard: { inside: (_run, work) => work() } as Guard,
    onBase: () => undefined,
    take: () => true,
  });
  assert.equal((await run(1, {} as RunOrder, true)).kind, 'success');
  assert.deepEqual(
    keys,
    Array.from({ length: 1_000 }, (_, i) => `k${i}`),
  );
  assert.ok(most > 1 && most <= 32, `${most} at once`);
});

test.run();
