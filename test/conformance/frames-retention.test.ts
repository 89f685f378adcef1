import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { leapingClock, newThread, say } from './scene.ts';

const test = suite('conformance: how long frames are kept');

const MINUTE = 60_000;
const RETENTION = 10 * MINUTE;

test('S2 given two ended runs, when the retention of one is over, then its frames go, and its answer and the other run stay', async () => {
  const clock = leapingClock();
  await withServer({ clock, overrides: { frameRetentionMs: RETENTION } }, async (s) => {
    const { payloads, views } = s.server.log;
    const thread = await newThread(s);
    const framesOf = async (run: string) => (await payloads.lastFrame(run)) + 1;
    const play = async (text: string): Promise<string> => {
      await s.client.runs.wait(thread, 'agent', { input: say(text) });
      return (await s.client.runs.list(thread))[0]!.run_id;
    };
    const old = await play('first');
    const answer = await s.client.runs.join(thread, old);
    clock.leap(RETENTION - MINUTE);
    const young = await play('second');
    assert.ok((await framesOf(old)) > 0);
    const end = clock.now() + RETENTION;
    while ((await framesOf(old)) > 0) {
      // Never so far that the younger run's time would be over too. A sweep leaves no fact to wait for, but asks the
      // reader thread, which answers in order.
      if (clock.now() + 10_000 < end) clock.leap(10_000);
      await views.inventory.assistants();
    }
    assert.ok((await framesOf(young)) > 0);
    assert.deepEqual(await s.client.runs.join(thread, old), answer);
  });
});

test.run();
