import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
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
    const onFault = (error: unknown): never => assert.fail(String(error));
    await withPool(dir, { graphs: { agent: 'asks' }, onFault }, async (pool) => {
      const { checkpoints, start } = preparePoolRun(pool, {});
      assert.equal((await start()).kind, 'success');
      const { found } = checkpoints.values() as { found: Record<string, boolean> };
      assert.ok(Object.keys(found).length > 2, `only ${Object.keys(found).length} are known`);
      assert.deepEqual(
        Object.entries(found).filter(([, whole]) => !whole),
        [],
      );
    }).finally(() => setFlagsFromString('--no-allow-natives-syntax'));
  }));

test.run();
