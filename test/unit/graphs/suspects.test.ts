import * as assert from 'uvu/assert';
import { createSuspects, type Suspect } from '../../../src/graphs/pool/suspects.ts';
import type { WorkerEnd } from '../../../src/graphs/pool/worker-end.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/pool/suspects');

/** `goneAfter` in milliseconds: when its thread is gone, and with it what it holds. */
interface Worker {
  readonly name: string;
  readonly holds: number;
  readonly goneAfter: number;
}

const GUILTY: WorkerEnd = { by: 'itself', error: 'Guilty', message: 'it was theirs' };
const [MOST, SHARE] = [100, 80];

/** The busiest first. Each search has workers of its own; returns what the runs of each were told. */
function given() {
  const clock = createManualClock();
  let workers: Suspect[] = [];
  let left = 0;
  const suspects = createSuspects({
    ...{ clock, end: GUILTY, share: SHARE },
    workers: () => workers,
    measure: async () => left,
  });
  return async (...given: Worker[]): Promise<Record<string, string>> => {
    const told: Record<string, string> = {};
    left = given.reduce((sum, { holds }) => sum + holds, 0);
    workers = given.map(({ name, holds, goneAfter }, place) => {
      let go: () => void = () => undefined;
      const exited = new Promise<void>((resolve) => (go = resolve));
      void exited.then(() => (left -= holds));
      return {
        ...{ exited, load: 1 },
        busy: () => -place,
        end: (_, verdict) => {
          clock.after(goneAfter, go);
          void verdict!.then(({ error }) => (told[name] = error));
        },
      };
    });
    const search = suspects.search(MOST);
    await clock.advance(60_000);
    await search;
    return told;
  };
}

const eats = (goneAfter: number): Worker => ({ name: 'eats', holds: 200, goneAfter });
const works = (goneAfter: number): Worker => ({ name: 'works', holds: 0, goneAfter });

test('given what comes back with one worker, when it is tried, then it is to blame, and nobody after it is tried (X4)', async () => {
  const search = given();
  assert.equal(await search(works(10), eats(10)), { works: 'WorkerSuspected', eats: 'Guilty' });
  assert.equal(await search(eats(10), works(10)), { eats: 'Guilty' });
});

test('given the busiest takes long to end, when it comes back with another one, then the busiest is not to blame (X4)', async () => {
  assert.equal(await given()(works(60_000), eats(10)), { works: 'WorkerSuspected', eats: 'Guilty' });
});

test('given the busiest holds it and does not end, when nothing comes back with any other, then it is to blame (X4)', async () => {
  assert.equal(await given()(eats(60_000), works(10)), { eats: 'Guilty', works: 'WorkerSuspected' });
});

test('given the busiest ends while another one is tried, when all has come back, then nobody is to blame at first, and the busiest when it is so again (X4)', async () => {
  const search = given();
  const unclear = { works: 'WorkerSuspected', eats: 'WorkerSuspected' };
  assert.equal(await search(works(2_750), eats(1_000)), unclear);
  assert.equal(await search(eats(2_750), works(10)), { eats: 'Guilty', works: 'WorkerSuspected' });
  assert.equal(await search(eats(2_750), works(10)), unclear);
});

test('given nothing comes back with anybody, when it is so again, then the busiest is to blame (X4)', async () => {
  const search = given();
  const theirs: Worker = { name: 'server', holds: 200, goneAfter: 90_000 };
  assert.equal(await search(works(10), theirs), { works: 'WorkerSuspected', server: 'WorkerSuspected' });
  assert.equal(await search(works(10), theirs), { works: 'Guilty', server: 'WorkerSuspected' });
});

test.run();
