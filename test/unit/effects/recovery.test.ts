/** What a run is charged with when the server that executed it is gone, on a database that several servers share. */
import assert from 'node:assert/strict';
import { createThreads } from '../../../src/actors/threads.ts';
import { abandon } from '../../../src/effects/recovery.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withSchema } from '../../support/test-database.ts';
import { seededIds } from '../../support/with-log.ts';

const test = suite('effects/recovery');
const url = shared(test, withPostgres);

const start = (incarnation: string): ThreadCommand => ({
  type: 'StartRun',
  ...{ runId: 'a', leaseId: 'lease', incarnation },
});

for (const [what, cutOff, deaths] of [
  ['has come back counts no death', 1, undefined],
  ['has not come back counts one', 0, 1],
] as const)
  test(`X6 a run that loses its next server while the one before ${what}`, () =>
    withSchema(url(), async (address) => {
      const clock = createManualClock();
      const log = await openTestPostgres(address, { projection, clock });
      const session = await connect(readAddress(address));
      const threads = createThreads({
        ...{ log, clock, ids: seededIds(clock, createRandom(1)) },
        webhooks: { enabled: false, render: () => '' },
      });
      const lose = () =>
        abandon(log, threads, { threadId: THREAD, holder: null, isAlive: false }, { maxCharges: 3 });
      // given a run whose first server is silent, and is then known to live or not
      await threads.dispatch(THREAD, [ask.createThread(), ask.createRun('a')]);
      await threads.dispatch(THREAD, [start('first')]);
      await lose();
      await session.ask('INSERT INTO nodes VALUES (@id, 0, 0, @cutOff)', { id: 'first', cutOff });
      await threads.dispatch(THREAD, [start('second'), ask.begin('a', 2)]);
      // when the second one is silent, too
      await lose();
      // then
      const state = await threads.read(THREAD);
      assert.equal('queue' in state && state.queue[0]?.deaths, deaths);
      assert.equal('queue' in state && state.queue[0]?.missing, 'second');
      await session.end();
      await log.close();
    }));

test.run();
