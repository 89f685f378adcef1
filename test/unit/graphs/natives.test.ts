import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { openGraphPool } from '../../../src/graphs/pool/pool.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { suite } from '../../support/suite.ts';
import { NO_STORE, toOrder } from './harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/natives');

/** What V8 calls them; one that this version does not know is left out. */
const KINDS = ['ArraySpecies', 'PromiseSpecies', 'RegExpSpecies', 'TypedArraySpecies', 'ArrayIterator'];
const ASKS = `export function asks() {
  const found = {};
  for (const kind of ${JSON.stringify(KINDS)})
    try {
      found[kind] = new Function('return %' + kind + 'Protector()')();
    } catch {}
  return { found };
}`;

test('X4 given a worker that is guarded, when graph code asks V8, then its short cuts for lists, promises and patterns are whole', () =>
  withProject({ 'graph.mjs': ASKS }, async (dir) => {
    setFlagsFromString('--allow-natives-syntax');
    const pool = await openGraphPool({
      ...{ workers: 1, heapMb: 256, fetch, onHeld: () => undefined, patience: systemClock() },
      graphs: [{ id: 'agent', file: join(dir, 'graph.mjs'), exportName: 'asks' }],
      readSource: async () => undefined,
      onFault: (error) => assert.fail(String(error)),
    });
    try {
      const checkpoints = createMemoryCheckpoints();
      const order = toOrder('01970000-0000-7000-8000-000000000000', { input: {} });
      const link = { checkpoints, store: NO_STORE, emit: async () => undefined };
      const end = await pool.run(order, link, new AbortController().signal);
      assert.equal(end.kind, 'success');
      const { found } = checkpoints.values() as { found: Record<string, boolean> };
      assert.ok(Object.keys(found).length > 2, `only ${Object.keys(found).length} are known`);
      assert.deepEqual(
        Object.entries(found).filter(([, whole]) => !whole),
        [],
      );
    } finally {
      await pool.close();
      setFlagsFromString('--no-allow-natives-syntax');
    }
  }));

test.run();
