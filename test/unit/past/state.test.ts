import assert from 'node:assert/strict';
import { loadThread } from '../../../src/actors/thread-actor.ts';
import { openPastStates, stateAt } from '../../../src/past/travel/state.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import type { TestThreads } from '../actors/with-threads.ts';
import { withPast, type Past } from './with-past.ts';

const test = suite('past/state');

/** What the live rows say of the thread. */
async function liveStateOf({ log }: TestThreads) {
  const thread = await log.views.threads.get(THREAD);
  if (thread === undefined) return undefined;
  const { status, metadata, interrupts, error, head } = thread;
  const ids = await log.views.runs.list({ threadId: THREAD, limit: 1_000, offset: 0 });
  return {
    ...{ status, metadata, interrupts, error },
    values: head === null ? null : ((await log.payloads.values(THREAD, head))?.parse() ?? null),
    runs: await Promise.all(
      ids.map(async (id) => {
        const { runId, status: of, attempt } = (await log.views.runs.get(id))!;
        return { run_id: runId, status: of, attempt };
      }),
    ),
    machine: (await loadThread(log, THREAD)).state,
  };
}

test('states at all positions, asked for in any order, are what the rows were then (R2, P2)', async () => {
  const seen = new Map<number, Awaited<ReturnType<typeof liveStateOf>>>();
  const note = async (past: Past): Promise<void> => void seen.set(await past.head(), await liveStateOf(past));
  await withPast(async (past) => {
    await past.done(ask.updateThread({ late: true }));
    await note(past);
    const random = createRandom(seedFromEnv());
    await past.past(async (history) => {
      const states = openPastStates(history, THREAD);
      for (const position of random.shuffle([...seen.keys(), ...seen.keys()])) {
        const expected = seen.get(position);
        for (const state of [await states.at(position), await stateAt(history, THREAD, position)]) {
          if (state === undefined || expected === undefined) {
            assert.equal(state, expected, `position ${position}`);
            continue;
          }
          const { status, metadata, interrupts, error, values, runs, machine } = state;
          const found = { status, metadata, interrupts, error, values, runs, machine };
          assert.deepEqual(JSON.parse(JSON.stringify(found)), JSON.parse(JSON.stringify(expected)));
        }
      }
    });
  }, note);
  assert.ok(seen.size > 10);
});

test('a deleted thread has no state, and its states before are gone (L3)', () =>
  withPast(async (past) => {
    await past.done(ask.deleteThread());
    const head = await past.head();
    await past.past(async (history) => {
      for (const position of [1, head - 1, head])
        assert.equal(await stateAt(history, THREAD, position), undefined);
    });
  }));

test.run();
