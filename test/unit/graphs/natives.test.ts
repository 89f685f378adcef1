import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { suite } from '../../support/suite.ts';
import { preparePoolRun, withPool } from './pool-harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graphs/natives');

/** What V8 calls them; a version need not know all of them. */
const KINDS = ['ArraySpecies', 'PromiseSpecies', 'RegExpSpecies', 'TypedArraySpecies', 'ArrayIterator'];
const ASKS = `export function asks() {
  const ask = (kind) => {
    try {
      return new Function('return %' + kind + 'Protector()')();
    } catch (error) {
      if (error instanceof SyntaxError) return 'unknown';
      throw error;
    }
  };
  return { found: ${JSON.stringify(KINDS)}.map((kind) => [kind, ask(kind)]) };
}`;

test('X4 given a worker that is guarded, when graph code asks V8, then its short cuts for lists, promises and patterns are whole', () =>
  withProject({ 'graph.mjs': ASKS }, async (dir) => {
    setFlagsFromString('--allow-natives-syntax');
    const onFault = (error: unknown): never => assert.fail(String(error));
    await withPool(dir, { graphs: { agent: 'asks' }, onFault }, async (pool) => {
      const { checkpoints, start } = preparePoolRun(pool, {});
      assert.equal((await start()).kind, 'success');
      const { found } = checkpoints.values() as { found: [kind: string, whole: boolean | 'unknown'][] };
      const known = found.filter(([, whole]) => whole !== 'unknown');
      assert.ok(known.length > 2, `only ${known.length} are known`);
      assert.deepEqual(
        known.filter(([, whole]) => whole !== true),
        [],
      );
    }).finally(() => setFlagsFromString('--no-allow-natives-syntax'));
  }));

test.run();
