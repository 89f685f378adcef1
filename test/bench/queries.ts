/**
 * `npm run bench:queries -- [threads] [runs] [directory]`: queries over very many threads, through the HTTP interface
 * of the real program, and how long its event loop stands still while a query looks at everything. A directory that
 * has a log already is used as it is; without one a temporary directory is filled (bulk.ts) and removed.
 */
import { existsSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { startProcess } from '../support/with-process.ts';
import { buildBulk, threadIdOf } from './bulk.ts';

const [threads = 1_000_000, runs = 2_000_000] = process.argv.slice(2, 4).map(Number);
const given = process.argv[4];

/** The bar: milliseconds at the 99th percentile for what an index answers, and for the loop. */
const P99_MS = 15;
const BLOCK_MS = 50;

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: (i: number) => object;
  /** Looks at many rows, on the reader thread: measured a few times, and not against the bar. */
  readonly scans?: boolean;
}

const random = (below: number): number => Math.floor(Math.random() * below);
const search = (name: string, body: (i: number) => object, scans = false): Asked => ({
  ...{ name: `search: ${name}`, path: '/threads/search', body, scans },
});
const count = (name: string, body: (i: number) => object, scans = false): Asked => ({
  ...{ name: `count: ${name}`, path: '/threads/count', body, scans },
});
const owner = (): object => ({ owner: `user-${random(threads / 50)}` });
const byCreation = { sort_by: 'created_at' };

/** Asks the log nothing: what it takes is the way there and back. */
const OK: Asked = { name: 'GET /ok', method: 'GET', path: '/ok' };

const ASKED: readonly Asked[] = [
  search('newest first, by change', () => ({})),
  search('newest first, by creation', () => byCreation),
  search('status interrupted', () => ({ status: 'interrupted' })),
  search('status idle', () => ({ status: 'idle' })),
  search('status error, by creation', () => ({ status: 'error', ...byCreation })),
  search('metadata of 50 threads', () => ({ metadata: owner() })),
  search('metadata of one thread', () => ({ metadata: { session: `session-${random(threads)}` } })),
  search('metadata of half of all', () => ({ metadata: { plan: 'pro' } })),
  search('metadata of half of all, by creation', () => ({ metadata: { plan: 'pro' }, ...byCreation })),
  search('a value in a list of the metadata', () => ({ metadata: { tags: [`tag-${random(100) * 10}`] } })),
  search('metadata of 50 threads and status', () => ({ metadata: owner(), status: 'idle' })),
  search('10 ids', () => ({ ids: Array.from({ length: 10 }, () => threadIdOf(random(threads))) })),
  search('page of 100', () => ({ limit: 100 })),
  count('metadata of 50 threads and status', () => ({ metadata: owner(), status: 'idle' })),
  { name: 'get a thread', method: 'GET', path: '/threads/:id' },
  { name: 'list the runs of a thread', method: 'GET', path: '/threads/:id/runs' },
  search(
    'metadata of half of all and status idle',
    () => ({ metadata: { plan: 'pro' }, status: 'idle' }),
    true,
  ),
  search(
    'two of the metadata, 5 % and half',
    () => ({ metadata: { plan: 'pro', tenant: 'tenant-3' } }),
    true,
  ),
  search('offset of half of all', () => ({ offset: threads / 2 }), true),
  search('by state_updated_at', () => ({ sort_by: 'state_updated_at' }), true),
  count('all', () => ({}), true),
  count('status', () => ({ status: 'idle' }), true),
  count('metadata of half of all', () => ({ metadata: { plan: 'pro' } }), true),
  count('nested metadata', () => ({ metadata: { nested: { region: 'eu' } } }), true),
];

/** On a machine that has much else to do a scan may be refused after the server's time limit: that is an answer. */
async function ask(
  base: string,
  { path, method = 'POST', body, scans = false }: Asked,
  i: number,
): Promise<number> {
  const from = performance.now();
  const response = await fetch(`${base}${path.replace(':id', threadIdOf(random(threads)))}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body(i)) }),
  });
  const text = await response.text();
  if (response.status !== 200 && !(scans && response.status === 503))
    throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - from;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const ms = (value: number): string => value.toFixed(1).padStart(9);

async function measure(base: string, asked: Asked, times: number): Promise<void> {
  for (let i = 0; i < (asked.scans === true ? 1 : 20); i++) await ask(base, asked, i);
  const found: number[] = [];
  for (let i = 0; i < times; i++) found.push(await ask(base, asked, i));
  found.sort((a, b) => a - b);
  const p99 = at(found, 0.99);
  const verdict = asked.scans === true ? 'scans' : p99 <= P99_MS ? 'ok' : `over ${P99_MS} ms`;
  console.log(`${asked.name.padEnd(52)}${ms(at(found, 0.5))}${ms(p99)}${ms(found.at(-1)!)}   ${verdict}`);
}

/** While scans follow one another: how long a route that asks the log nothing, and an indexed search, take. */
async function measureBlocks(base: string): Promise<void> {
  const scans = ASKED.filter(({ scans: isScan }) => isScan === true);
  let done = false;
  const beside = async (asked: Asked): Promise<number[]> => {
    const found: number[] = [];
    for (let i = 0; !done; i++) found.push(await ask(base, asked, i));
    return found.sort((a, b) => a - b);
  };
  // Settled together: none may be left without somebody who hears of its failure.
  const scanning = (async () => {
    for (let round = 0; round < 3; round++) for (const scan of scans) await ask(base, scan, round);
  })().finally(() => (done = true));
  const [, pings, searches] = await Promise.all([scanning, beside(OK), beside(ASKED[5]!)]);
  for (const [name, found] of [
    ['while all of these scan: GET /ok', pings],
    ['while all of these scan: metadata of 50 threads', searches],
  ] as const) {
    const verdict = at(found, 0.999) <= BLOCK_MS ? 'ok' : `over ${BLOCK_MS} ms`;
    console.log(
      `${name.padEnd(52)}${ms(at(found, 0.5))}${ms(at(found, 0.99))}${ms(found.at(-1)!)}   ${verdict}`,
    );
  }
}

async function run(dir: string): Promise<void> {
  if (!existsSync(join(dir, LOG_FILE))) await buildBulk(dir, { threads, runs }, console.log);
  const config = fileURLToPath(new URL('./project/platform.json', import.meta.url));
  const server = await startProcess({ dir, config });
  try {
    const load = loadavg().map((value) => value.toFixed(1));
    console.log(
      `${threads} threads, ${runs} runs; one request at a time, fetch in the process of the benchmark`,
    );
    console.log(
      `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model}, load ${load.join(' ')}`,
    );
    console.log(
      `${'milliseconds'.padEnd(52)}${['p50', 'p99', 'longest'].map((name) => name.padStart(9)).join('')}`,
    );
    for (let i = 0; i < 500; i++) await ask(server.url, ASKED[i % 16]!, i);
    await measure(server.url, OK, 300);
    for (const asked of ASKED) await measure(server.url, asked, asked.scans === true ? 5 : 300);
    await measureBlocks(server.url);
  } finally {
    await server.end('SIGTERM');
  }
}

if (given === undefined) await withTempDir((dir) => run(join(dir, 'data')));
else await run(given);
