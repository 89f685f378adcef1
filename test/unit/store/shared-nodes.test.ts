import assert from 'node:assert/strict';
import { createSharedNodes } from '../../../src/store/sql/shared-nodes.ts';
import type { Work } from '../../../src/store/sql/work.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, one of several nodes');

for (const [what, now, reserved] of [
  ['lives', 'first', ['task']],
  ['is cut off', undefined, []],
  ['goes on as another node', 'second', []],
] as const)
  test(`X1 a server that ${what} while it reserves has reserved ${reserved.length > 0 ? 'all' : 'nothing'}`, async () => {
    // given
    let id: string | undefined = 'first';
    async function run<T>(work: Work<T>): Promise<T> {
      work.next();
      // when
      id = now;
      return work.next([{ task: 'task' }] as never).value as T;
    }
    const self = {
      get id() {
        return id;
      },
      onCutOff: () => () => undefined,
    };
    const nodes = createSharedNodes({ clock: '0', skipLocked: '' }, run, self);
    // then
    assert.deepEqual(await nodes.reserve(['task']), reserved);
  });

test.run();
