/** Figures of a server that has little to do: its start, its memory, its rows made anew, streams that wait. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../../src/store/sqlite/library.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { childrenOf, proportionalBytes } from '../support/process-figures.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { startProcess } from '../support/with-process.ts';
import { buildBulk, REBUILT } from './bulk.ts';
import { measureIdleStreams } from './idle-streams.ts';
import { configOf, withServerProcess, type Report } from './load-figures.ts';
import { percentile } from './figures.ts';
import { openLane } from './lane.ts';
import { measurePast } from './past-figures.ts';
import { measureSignal } from './signal.ts';
import { measureStepEnds } from './step-ends.ts';

const STARTS = 5;
const REBUILDS = 3;
const IDLE_STREAMS = 10_000;
const MIB = 2 ** 20;
const REST_MS = 5_000;
/** A thread that has worked gives back what it does not need after a minute (src/kernel/idle-memory.ts). */
const LONG_REST_MS = 70_000;
/** Three facts for each run, one for each thread, one checkpoint in each: ten for a thread, ten million in all. */
const LARGE = { threads: 1_000_000, runs: 2_667_000 };

/** Seconds from the start of the program to its first answer: `[GET /ok, a run]`. */
async function startOnce(dir: string, config: string, graph: string): Promise<readonly [number, number]> {
  const began = performance.now();
  const server = await startProcess({ dir, config });
  try {
    const lane = await openLane(server.url);
    const { status } = await lane.ask('GET', '/ok');
    if (status !== 200) throw new Error(`the first answer was ${status}`);
    const answered = performance.now();
    const input = { messages: [{ role: 'user', content: 'hello' }] };
    await lane.ask('POST', '/runs/wait', { assistant_id: graph, input });
    lane.close();
    return [(answered - began) / 1000, (performance.now() - began) / 1000];
  } finally {
    await server.end('SIGTERM');
  }
}

async function reportStart(
  report: Report,
  dir: string,
  config: string,
  graph: string,
  bar: number,
  name: string,
) {
  const starts: (readonly [number, number])[] = [];
  for (let i = 0; i < STARTS; i++) starts.push(await startOnce(dir, config, graph));
  report({
    ...{ name, unit: 's', bar: { atMost: bar } },
    value: percentile(
      starts.map(([answered]) => answered),
      0.5,
    ),
    against: `the first run was answered after ${percentile(
      starts.map(([, ran]) => ran),
      0.5,
    ).toFixed(1)} s`,
  });
}

export async function measureRest(
  wants: (name: string) => boolean,
  report: Report,
  say: (line: string) => void,
  largeDir?: string,
): Promise<void> {
  if (wants('start'))
    for (const [config, graph, bar, name] of [
      ['platform.json', 'agent', 0.8, 'start to first answer'],
      ['ten.json', 'agent0', 1.2, 'start to first answer, 10 graphs'],
    ] as const)
      await withTempDir((dir) => reportStart(report, join(dir, 'data'), configOf(config), graph, bar, name));
  if (wants('signal')) await measureSignal(report);
  if (wants('steps')) await measureStepEnds(report);
  if (wants('memory')) await measureMemory(report);
  if (wants('rebuild')) await measureRebuild(report);
  if (wants('past')) await measurePast(report);
  if (wants('idle')) {
    const { bytesEach, p99, busy } = await measureIdleStreams(IDLE_STREAMS);
    const name = `${IDLE_STREAMS.toLocaleString('en')} idle streams`;
    const against = `GET /ok p99 ${p99.toFixed(1)} ms, ${(100 * busy).toFixed(0)} % of a core`;
    report({ name, value: bytesEach / 1024, unit: 'KB each', bar: { atMost: 60 }, against });
  }
  if (wants('large')) {
    const use = async (dir: string): Promise<void> => {
      if (!existsSync(join(dir, LOG_FILE))) await buildBulk(dir, LARGE, say);
      const name = 'start to first answer, 1,000,000 threads and 10,000,000 events';
      await reportStart(report, dir, configOf('platform.json'), 'agent', 1.5, name);
    };
    if (largeDir === undefined) await withTempDir((dir) => use(join(dir, 'data')));
    else await use(largeDir);
  }
}

const measureMemory = (report: Report): Promise<void> =>
  withServerProcess(async ({ url, pid }) => {
    const memory = (): readonly number[] =>
      [pid, ...childrenOf(pid)].map((each) => proportionalBytes(each) / MIB);
    await pause(REST_MS);
    const show = (figures: readonly number[]): string => figures.map((each) => each.toFixed(0)).join(' + ');
    const before = memory();
    const lane = await openLane(url);
    const input = { messages: [{ role: 'user', content: 'hello' }] };
    await lane.ask('POST', '/runs/wait', { assistant_id: 'agent', input });
    lane.close();
    await pause(LONG_REST_MS);
    const after = memory();
    report({
      ...{ name: 'idle memory, server and worker', unit: 'MiB', bar: { atMost: 150 } },
      value: after.reduce((sum, each) => sum + each, 0),
      against: `Pss: ${show(after)} MiB, before the first run ${show(before)} MiB`,
    });
  });

/** What a start of the program takes longer when the projection has changed: as built as the program that users start. */
const measureRebuild = (report: Report): Promise<void> =>
  withTempDir(async (temp) => {
    const dir = join(temp, 'data');
    await buildBulk(dir, REBUILT, () => undefined);
    const config = configOf('platform.json');
    const events = change(dir, (db) => db.prepare('SELECT count(*) FROM events').pluck().get() as number);
    const seconds: number[] = [];
    for (let i = 0; i < REBUILDS; i++) {
      change(dir, (db) => db.prepare("UPDATE meta SET value = 'none' WHERE key = 'projection'").run());
      const [rebuilt] = await startOnce(dir, config, 'agent');
      const [plain] = await startOnce(dir, config, 'agent');
      seconds.push(rebuilt - plain);
    }
    const each = seconds.map((each) => each.toFixed(2)).join(', ');
    report({
      ...{ name: 'rows rebuilt from the log', value: events / percentile(seconds, 0.5), unit: 'events/s' },
      ...{ bar: { atLeast: 28_600 }, against: `${events.toLocaleString('en')} events in ${each} s` },
    });
  });

function change<T>(dir: string, use: (db: Database) => T): T {
  const db = new Database(join(dir, LOG_FILE));
  try {
    return use(db);
  } finally {
    db.close();
  }
}
