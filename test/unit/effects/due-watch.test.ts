import assert from 'node:assert/strict';
import { createCrons } from '../../../src/actors/crons.ts';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { startCrons } from '../../../src/effects/crons.ts';
import { watchDue } from '../../../src/effects/due-watch.ts';
import { startExecutor } from '../../../src/effects/executor.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import { startWebhooks } from '../../../src/effects/webhooks.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { ask } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/due-watch');
const onFault = (error: unknown): void => assert.fail(String(error));

/** The log as one of several servers has it; `asked` hears the name of each question about nodes, runs, crons and deliveries. */
function sharedLog(log: EventLog, asked: (name: string) => void): EventLog {
  const heard = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name);
        if (typeof found !== 'function') return found;
        return (...args: unknown[]): unknown => {
          asked(String(name));
          return (found as (...given: unknown[]) => unknown)(...args);
        };
      },
    });
  const { runs, crons, deliveries, ...views } = log.views;
  const nodes = {
    ...log.nodes,
    isShared: true,
    look: async (now: number) => ({
      ...(await log.nodes.look(now)),
      due: new Set<never>(),
    }),
  };
  return {
    ...log,
    nodes: heard(nodes),
    views: { ...views, runs: heard(runs), crons: heard(crons), deliveries: heard(deliveries) },
  };
}

/** Lets everything be done that is due by then. */
async function pass({ clock, log }: TestThreads, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await clock.advance(500);
    await log.readAll(0, 1);
  }
}

test('one of several servers that has nothing to do asks its store one question a second', () =>
  withThreads(async (lent) => {
    // given
    const { clock, threads } = lent;
    let asked: string[] = [];
    const log = sharedLog(lent.log, (name) => asked.push(name));
    const ids = seededIds(clock, createRandom(6));
    const items = createItems({ log, clock, ids });
    const due = watchDue({ log, clock, onFault });
    const executor = startExecutor({
      ...{ log, clock, threads, ids, due, onFault, lingerClock: clock, isRead: () => true },
      ...{ runTimeoutMs: 60_000, maxCharges: 3, stopGraceMs: 5_000, permits: createPermits(4) },
      store: createStore({
        ...{ log, items, clock, onFault, embedder: undefined },
        ttl: { refreshOnRead: false, defaultTtl: null },
      }),
      graphs: {
        graphIds: ['graph'],
        run: async () => ({ kind: 'success', next: [], interrupts: {} }),
        close: async () => undefined,
      },
    });
    const out = { post: onFault as never, open: () => undefined, close: async () => undefined };
    const webhooks = startWebhooks({ log, clock, ids, out, due, onFault });
    const crons = startCrons({
      ...{ log, clock, due, onFault, start: onFault as never },
      crons: createCrons({ log, clock, ids, catchUp: { mode: 'one', limit: 100 } }),
    });
    await pass(lent, 2_000);
    // when
    asked = [];
    await pass(lent, 10_000);
    // then
    assert.deepEqual(asked, Array(10).fill('look'));
    await Promise.all([executor.stop(0), webhooks.stop(), crons.stop()]);
    due.stop();
  }));

test('X5 what becomes due between two polls is looked for at its time', () =>
  withThreads(async (lent) => {
    // given
    const { clock, log, threads } = lent;
    const start = clock.now();
    const looks: number[] = [];
    const nodes = { ...log.nodes, look: log.nodes.look };
    nodes.look = (now) => {
      looks.push(now - start);
      return log.nodes.look(now);
    };
    const delay = async (id: string, ms: number): Promise<void> => {
      const commands = [ask.createThread({}, id), ask.createRun(id, 'enqueue', { notBefore: start + ms })];
      assert.ok((await threads.dispatch(id, commands)).ok);
    };
    await delay('later', 2_700);
    const due = watchDue({ log: { ...log, nodes }, clock, onFault });
    // when
    await delay('soon', 300);
    await clock.advance(100);
    assert.deepEqual(looks, []);
    await clock.advance(2_900);
    // then
    assert.deepEqual(looks, [300, 1_000, 2_000, 2_700, 3_000]);
    due.stop();
  }));

test.run();
