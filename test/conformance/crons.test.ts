import * as assert from 'node:assert/strict';
import type { Recorded } from '../../src/log/events.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { leapingClock, say, textsOf } from './scene.ts';

const test = suite('conformance: crons');
const MINUTE = 60_000;

test('client.crons.createForThread: given a cron on a thread, when its slot comes, then the thread has its run', async () => {
  const clock = leapingClock();
  await withServer({ clock }, async (s) => {
    const { client } = s;
    const { thread_id: thread } = await client.threads.create();
    const cron = await client.crons.createForThread(thread, 'echo', {
      schedule: '* * * * *',
      input: say('tick'),
      metadata: { kind: 'test' },
    });
    clock.leap(MINUTE);
    await s.until(({ type }: Recorded) => type === 'RunCompleted');
    const [run] = await client.runs.list(thread);
    assert.deepEqual(run?.metadata?.['cron_id'], (cron as { cron_id: string }).cron_id);
    assert.deepEqual(textsOf((await client.threads.get(thread)).values), ['tick', 'echo: tick']);
  });
});
test.run();
