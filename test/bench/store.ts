/**
 * `node --import tsx test/bench/store.ts [runs]`: the store's part of a plain run. A real server in this process executes
 * plain runs; the batches that it commits are replayed into new logs, each run alone and seven runs in turn that share
 * their commits.
 *
 * A B-tree, which is a table or an index, counts once for each commit that writes one of its pages. `STATEMENTS=1` prints
 * the statements of a run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/kernel/clock.ts';
import { storeAt } from '../../src/open-store.ts';
import type { Batch, EventLog } from '../../src/store/port/log.ts';
import type { Database } from '../../src/store/sqlite/library.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { watchStatements } from '../support/statements.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer } from '../support/with-server.ts';

const CONFIG = fileURLToPath(new URL('./project/platform.json', import.meta.url));
const RUNS = Number(process.argv[2] ?? 1_400);
const ROUNDS = 5;
const SHARING = 7;
/** Runs that warm V8, and those that are counted. */
const WARM_RUNS = 210;
const COUNTED_RUNS = 70;

const listen = watchStatements();

/** Captures the batches of plain runs, in order, by run; and what the server reads beside its commits. */
async function capture(runs: number, webhook?: string): Promise<{ batches: Batch[][]; reads: number }> {
  return withServer(
    { config: CONFIG, overrides: {}, env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } },
    async (given) => {
      const { log } = given.server;
      const batches = new Map<string, Batch[]>();
      const { commit } = log;
      (log as { commit: EventLog['commit'] }).commit = (batch) => {
        const runId = runOf(batch);
        if (runId !== undefined) batches.set(runId, [...(batches.get(runId) ?? []), batch]);
        return commit(batch);
      };
      let reads = 0;
      const body = {
        assistant_id: 'plain',
        input: { messages: [{ role: 'user', content: 'hello' }] },
        webhook,
      };
      const run = (): Promise<unknown> => given.request('POST', '/runs/wait', body as never);
      for (let i = 0; i < 20; i++) await run();
      batches.clear();
      listen(({ db, reads: isRead }) => (reads += isRead && !db.inTransaction ? 1 : 0));
      for (let i = 0; i < runs; i++) await run();
      listen(undefined);
      const whole = [...batches.values()];
      const usual = median(whole.map(({ length }) => length));
      return { batches: whole.filter(({ length }) => length === usual), reads: reads / runs };
    },
  );
}

function runOf({ appends, payloads = [] }: Batch): string | undefined {
  for (const { events } of appends)
    for (const { type, data } of events)
      if (!type.startsWith('Webhook') && 'runId' in data) return data.runId;
  return payloads.flatMap((write) => ('runId' in write ? write.runId : [])).at(0);
}

const openLog = (dir: string): Promise<EventLog> =>
  storeAt(dir).openLog({
    clock: systemClock(),
    onFault(error) {
      throw error;
    },
  });

/** Commits the runs' batches, `sharing` runs in one transaction. */
async function replay(log: EventLog, runs: readonly Batch[][], sharing: number): Promise<void> {
  for (let first = 0; first < runs.length; first += sharing) {
    const group = runs.slice(first, first + sharing);
    for (let at = 0; at < group[0]!.length; at++) {
      const results = await Promise.all(group.map((batches) => log.commit(batches[at]!)));
      const odd = results.find(({ kind }) => kind !== 'committed');
      if (odd !== undefined) throw new Error(JSON.stringify(odd));
    }
  }
}

/** Milliseconds of this thread's processor time for each run. */
const timed = (runs: readonly Batch[][], sharing: number): Promise<number> =>
  withTempDir(async (dir) => {
    const log = await openLog(join(dir, 'data'));
    await replay(log, runs.slice(0, WARM_RUNS), sharing);
    const before = process.threadCpuUsage();
    await replay(log, runs.slice(WARM_RUNS), sharing);
    const { user, system } = process.threadCpuUsage(before);
    await log.close();
    return (user + system) / 1_000 / (runs.length - WARM_RUNS);
  });

interface Counted {
  readonly statements: number;
  readonly reads: number;
  readonly trees: number;
  readonly kilobytes: number;
  readonly names: readonly string[];
}

const counted = (runs: readonly Batch[][], sharing: number): Promise<Counted> =>
  withTempDir(async (dir) => {
    const log = await openLog(join(dir, 'data'));
    await replay(log, runs.slice(0, WARM_RUNS), sharing);
    const executed: string[][] = [];
    let reads = 0;
    let db: Database | undefined;
    listen((each) => {
      if (each.sql.startsWith('BEGIN')) executed.push([]);
      executed.at(-1)?.push(each.sql);
      if (each.reads) reads += 1;
      db = each.db;
    });
    await replay(log, runs.slice(WARM_RUNS, WARM_RUNS + sharing), sharing);
    // One file for all that follows: nothing is written back while it is measured.
    db!.pragma('wal_checkpoint(TRUNCATE)');
    db!.pragma('wal_autocheckpoint = 0');
    executed.length = reads = 0;
    const measured = runs.slice(WARM_RUNS + sharing, WARM_RUNS + sharing + COUNTED_RUNS);
    await replay(log, measured, sharing);
    listen(undefined);
    const { bytes, trees } = treesOf(db!, readFileSync(join(dir, 'data', `${LOG_FILE}-wal`)));
    if (process.env['STATEMENTS'] && sharing === 1)
      console.log(executed.slice(0, runs[0]!.length).flat().join('\n'));
    await log.close();
    return {
      statements: executed.flat().length / measured.length,
      reads: reads / measured.length,
      trees: trees.reduce((sum, { size }) => sum + size, 0) / trees.length,
      kilobytes: bytes / 1_024 / measured.length,
      names: trees.slice(0, runs[0]!.length).map((names) => [...names].join(' ')),
    };
  });

/** The tables and indexes whose pages each commit of a write-ahead log has (sqlite.org/fileformat2.html#walformat). */
function treesOf(db: Database, wal: Buffer): { bytes: number; trees: Set<string>[] } {
  // The first page is the file's header too.
  const pages = db.prepare('SELECT pageno, name FROM dbstat WHERE pageno > 1').raw();
  const names = new Map(pages.all() as [number, string][]);
  const frame = 24 + wal.readUInt32BE(8);
  const trees: Set<string>[] = [];
  let commit = new Set<string>();
  let at = 32;
  for (; at + frame <= wal.length; at += frame) {
    const name = names.get(wal.readUInt32BE(at));
    if (name !== undefined) commit.add(name);
    if (wal.readUInt32BE(at + 4) === 0) continue;
    trees.push(commit);
    commit = new Set();
  }
  return { bytes: at, trees };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const plain = await capture(RUNS);
const owing = await withWebhookSink((sink) => capture(2 * (WARM_RUNS + SHARING + COUNTED_RUNS), sink.url()));
console.log(`${plain.batches[0]!.length} commits a run, ${plain.reads.toFixed(1)} reads a run beside them`);
const row = (name: string, cells: readonly (number | string)[]): void =>
  console.log(
    name.padEnd(24),
    ...cells.map((cell) => (typeof cell === 'string' ? cell : cell.toFixed(2)).padStart(12)),
  );
row('', ['statements', 'reads', 'B-trees', 'KB written', 'ms of CPU', 'least']);
for (const [name, runs, sharing] of [
  ['alone', plain.batches, 1],
  ['seven sharing', plain.batches, SHARING],
  ['alone, with a delivery', owing.batches, 1],
] as const) {
  const { statements, reads, trees, kilobytes, names } = await counted(runs, sharing);
  const times: number[] = [];
  if (runs === plain.batches) for (let i = 0; i < ROUNDS; i++) times.push(await timed(runs, sharing));
  row(name, [
    statements,
    reads,
    trees,
    kilobytes,
    ...(times.length > 0 ? [median(times), Math.min(...times)] : []),
  ]);
  if (sharing === 1) for (const commit of names) console.log(`  ${commit}`);
}
