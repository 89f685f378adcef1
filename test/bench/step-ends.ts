/**
 * From the end of a step in graph code to its checkpoint on the disk. The server is in this process, which hears of each
 * commit; graphs run in a worker. The best of some rounds counts, because other programs take the machine's time as well.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isStepEnd } from '../../src/thread/state.ts';
import { withServer } from '../support/with-server.ts';
import { percentile } from './figures.ts';
import { configOf, type Report } from './load-figures.ts';

const ROUNDS = 3;
const RUNS_STEPS = 40;
const SYNCS = 200;
const MAX_ADDED_MS = 10;

interface Delays {
  readonly p50: number;
  readonly p99: number;
}

const toDelays = (times: readonly number[]): Delays => ({
  p50: percentile(times, 0.5),
  p99: percentile(times, 0.99),
});

/** Milliseconds of one write and its sync in the directory. */
function measureSyncs(dir: string): Delays {
  const file = openSync(join(dir, 'syncs'), 'w');
  const page = Buffer.alloc(4_096);
  const times = Array.from({ length: SYNCS }, () => {
    const began = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return toDelays(times);
}

async function measureRound(lanes: number, stepMs: number): Promise<{ delays: Delays; sync: Delays }> {
  return withServer({ config: configOf('platform.json'), workers: 1 }, async ({ server, client, dir }) => {
    const saved = new Map<string, bigint>();
    server.log.onCommitted(({ events }) => {
      const now = process.hrtime.bigint();
      for (const { type, data } of events)
        if (type === 'CheckpointSaved' && isStepEnd(data)) saved.set(`${data.runId} ${data.step}`, now);
    });
    const ends = join(dir, 'ends');
    const order = {
      input: { steps: RUNS_STEPS },
      config: { configurable: { ends, stepMs }, recursion_limit: 100 },
    };
    const lane = async () => {
      const { thread_id: thread } = await client.threads.create();
      await client.runs.wait(thread, 'steps', { ...order, durability: 'async' });
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    const times = readFileSync(ends, 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => {
        const [run, step, at] = line.split(' ');
        const durable = saved.get(`${run} ${step}`);
        return durable === undefined ? [] : [Number(durable - BigInt(at!)) / 1e6];
      });
    if (times.length < lanes * (RUNS_STEPS - 1)) throw new Error(`only ${times.length} steps were saved`);
    return { delays: toDelays(times), sync: measureSyncs(dir) };
  });
}

async function reportBest(report: Report, lanes: number, stepMs: number, name: string, hasBar: boolean) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRound(lanes, stepMs));
  const { delays, sync } = rounds.sort((a, b) => a.delays.p99 - b.delays.p99)[0]!;
  const show = (ms: number): string => ms.toFixed(1);
  const others = rounds.map((round) => show(round.delays.p99)).join(', ');
  report({
    ...{ name, unit: 'ms p99', value: delays.p99 },
    against: `p50 ${show(delays.p50)} ms; one sync p50 ${show(sync.p50)}, p99 ${show(sync.p99)} ms; rounds ${others}`,
    ...(hasBar && { bar: { atMost: MAX_ADDED_MS + sync.p99 } }),
  });
}

export async function measureStepEnds(report: Report): Promise<void> {
  await reportBest(report, 8, 50, 'end of a step to its durable checkpoint, 8 runs of 50 ms steps', true);
  await reportBest(report, 32, 0, 'the same, 32 runs of steps that take no time', false);
}
