import assert from 'node:assert/strict';
import { createHub } from '../../../src/streams/hub.ts';
import { createThreadEvents } from '../../../src/streams/thread-events.ts';
import { THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads } from '../actors/with-threads.ts';

const test = suite('streams/thread-events');

test('S3 a reader closed while it looks for the next run leaves nothing behind', () =>
  withThreads(async ({ log, clock, done }) => {
    await done(toRunning('a'));
    const hub = createHub(log);
    const before = clock.pending();
    const reader = createThreadEvents(log, hub, clock).read(THREAD, {
      visible: async () => {
        reader.close();
        return true;
      },
    });
    assert.equal(await reader.poll(), undefined);
    assert.equal(hub.readers(), 0);
    assert.deepEqual(clock.pending(), before);
    hub.close();
  }));

test.run();
