/** Figures of looking back: `verify` beside a rebuild of the same log, and the state of a thread at any position. */
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { Database } from '../../src/store/sqlite/library.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { storeAt } from '../../src/open-store.ts';
import { openPastStates } from '../../src/past/travel/state.ts';
import { verify } from '../../src/past/verify/verify.ts';
import { createRandom } from '../support/random.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { buildBulk, REBUILT } from './bulk.ts';
import type { Report } from './load-figures.ts';
import { LONG_THREAD, writeLongThread } from './long-thread.ts';

const EVENTS_OF_THREAD = 100_000;
const POSITIONS = 50;

export async function measurePast(report: Report): Promise<void> {
  await withTempDir((dir) => measureVerify(report, join(dir, 'data')));
  await withTempDir((dir) => measureStates(report, join(dir, 'data')));
}

async function measureVerify(report: Report, dir: string): Promise<void> {
  await buildBulk(dir, REBUILT, () => undefined);
  const db = new Database(join(dir, LOG_FILE));
  db.prepare("UPDATE meta SET value = 'none' WHERE key = 'projection'").run();
  db.close();
  const clock = systemClock();
  const rebuild = await measure(async () => {
    await (await storeAt(dir).openLog({ clock, onFault: fail })).close();
  });
  const history = await storeAt(dir).openPast();
  const verified = await measure(async () => {
    const { finding } = await verify(history);
    if (finding !== undefined) throw new Error(finding.problem);
  });
  await history.close();
  report({
    ...{ name: 'verify beside the rebuild of its log', unit: 'of its rate', bar: { atLeast: 0.8 } },
    value: rebuild.seconds / verified.seconds,
    against: `${textOf(verified)} beside ${textOf(rebuild)}`,
  });
}

async function measureStates(report: Report, dir: string): Promise<void> {
  await writeLongThread(dir, EVENTS_OF_THREAD);
  const begun = performance.now();
  const history = await storeAt(dir).openPast();
  try {
    const last = await history.past.lastPosition();
    const states = openPastStates(history, LONG_THREAD);
    await states.at(last);
    const name = `state of a thread with ${EVENTS_OF_THREAD.toLocaleString('en')} events`;
    const cold = performance.now() - begun;
    report({ name: `${name}, cold`, value: cold, unit: 'ms', bar: { atMost: 500 } });
    const random = createRandom(1);
    let slowest = 0;
    for (let i = 0; i < POSITIONS; i++) {
      const from = performance.now();
      await states.at(random.int(2, last));
      slowest = Math.max(slowest, performance.now() - from);
    }
    const against = `the slowest of ${POSITIONS} positions`;
    report({ name: `${name}, warm`, value: slowest, unit: 'ms', bar: { atMost: 50 }, against });
  } finally {
    await history.close();
  }
}

interface Cost {
  readonly seconds: number;
  readonly processorSeconds: number;
}

async function measure(work: () => Promise<void>): Promise<Cost> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - begun) / 1_000, processorSeconds: (user + system) / 1e6 };
}

const textOf = ({ seconds, processorSeconds }: Cost): string =>
  `${seconds.toFixed(1)} s (${processorSeconds.toFixed(1)} s of processor time)`;

function fail(error: unknown): never {
  throw error;
}
