/**
 * `node --import tsx test/bench/wakeups.ts [seconds]`: two servers on one PostgreSQL. From a token that a graph writes on one to
 * its reader on the other, and from a cancellation on the other to the signal in graph code of a run that saves all the time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { withPostgres } from '../support/postgres.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { openStream } from '../conformance/stream-reader.ts';
import { percentile } from './figures.ts';
import { withServerProcess } from './load-figures.ts';
import { HEAD, toLine, type Row } from './table.ts';

const seconds = Number(process.argv[2] ?? 10);
const STREAMS = 100;
const TOKENS_PER_SECOND = 20;
/** Tokens of each stream before those that count. */
const WARM_TOKENS = 40;
const CANCELS = 20;
const CHECKPOINTS_PER_SECOND = 200;
/** Checkpoints that a run has saved before it is cancelled. */
const MIN_SAVED = 50;

const rows: Row[] = [];
function report(name: string, times: readonly number[], atMost?: number): void {
  const [p50, most] = [percentile(times, 0.5), Math.max(...times)];
  const against = `p50 ${p50} ms, most ${most} ms, of ${times.length}`;
  rows.push({
    name,
    value: percentile(times, 0.99),
    unit: 'ms p99',
    against,
    ...(atMost && { bar: { atMost } }),
  });
  console.log(toLine(rows.at(-1)!));
}

async function ask(base: string, method: string, path: string, body?: unknown): Promise<any> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) ?? null });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

/** Starts a run on a new thread and returns its path. */
async function start(base: string, body: object): Promise<string> {
  const { thread_id: thread } = await ask(base, 'POST', '/threads', {});
  const { run_id: run } = await ask(base, 'POST', `/threads/${thread}/runs`, body);
  return `/threads/${thread}/runs/${run}`;
}

/** Milliseconds of each token. */
async function readTokens(a: string, b: string): Promise<number[]> {
  const frames = WARM_TOKENS + seconds * TOKENS_PER_SECOND;
  const input = { frames, everyMs: 1_000 / TOKENS_PER_SECOND };
  const stream = await openStream(
    `${b}${await start(a, { assistant_id: 'ticker', input, stream_mode: 'custom' })}/stream`,
  );
  const times: number[] = [];
  for (let frame = await stream.next(); frame !== undefined; frame = await stream.next())
    if (frame.event === 'custom') times.push(Date.now() - (frame.data as { madeAt: number }).madeAt);
  if (times.length !== frames) throw new Error(`${times.length} of ${frames} tokens came`);
  return times.slice(WARM_TOKENS);
}

async function cancelOnce(a: string, b: string, heard: string): Promise<number> {
  writeFileSync(heard, '');
  const input = { everyMs: 1_000 / CHECKPOINTS_PER_SECOND };
  const path = await start(a, { assistant_id: 'saver', input, config: { configurable: { heard } } });
  const thread = path.split('/runs/')[0]!;
  while (((await ask(b, 'GET', thread)).values?.saved ?? 0) < MIN_SAVED);
  const sent = Date.now();
  await ask(b, 'POST', `${path}/cancel?wait=true`);
  return Number(readFileSync(heard, 'utf8')) - sent;
}

console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`);
await withPostgres(
  (url) => {
    const env = { PLATFORM_DATABASE_URL: `${url}?schema=nodes`, PLATFORM_CONCURRENCY: `${STREAMS}` };
    return withServerProcess(
      ({ url: a }) =>
        withServerProcess(async ({ url: b }) => {
          const what = `${STREAMS} streams × ${TOKENS_PER_SECOND} tokens/s`;
          for (const [reader, name, bar] of [
            [a, 'the same node', undefined],
            [b, 'another one', 100],
          ] as const) {
            const all = await Promise.all(Array.from({ length: STREAMS }, () => readTokens(a, reader)));
            report(`token written on a node to its reader on ${name}, ${what}`, all.flat(), bar);
          }
          await withTempDir(async (dir) => {
            const times: number[] = [];
            for (let i = 0; i < CANCELS; i++) times.push(await cancelOnce(a, b, join(dir, 'heard')));
            const beside = `a run that saves ${CHECKPOINTS_PER_SECOND} checkpoints/s`;
            report(`cancel on another node to the signal in graph code, ${beside}`, times, 1_000);
          });
        }, env),
      env,
    );
  },
  { fsync: true },
);
console.log(`\n${HEAD}\n${rows.map(toLine).join('\n')}`);
