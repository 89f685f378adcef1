/**
 * `node --import tsx test/bench/postgres.ts [seconds]`: what a run costs on PostgreSQL, beside SQLite on the same cores in
 * the same run: statements and round trips of an agent's turn, runs a second, processor time of server and database.
 * The database syncs its commits to the disk.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../src/store/postgres/sessions.ts';
import { readAddress } from '../../src/kernel/database-address.ts';
import { withPostgres } from '../support/postgres.ts';
import { childrenOf, cpuSeconds } from '../support/process-figures.ts';
import { withServerProcess, LANES } from './load-figures.ts';
import { openLane, type Lane } from './lane.ts';
import { askLoop } from './parts.ts';
import { withStatementCounter } from './statement-counter.ts';
import { HEAD, toLine, type Row } from './table.ts';

const seconds = Number(process.argv[2] ?? 5);
const WARM_TURNS = 20;
const TURNS = 20;
const PLAIN_LANES = 7;

const rows: Row[] = [];
function report(row: Row): void {
  rows.push(row);
  console.log(toLine(row));
}

const settings = (url: string): Record<string, string> => ({ PLATFORM_DATABASE_URL: url });

async function turn(lane: Lane): Promise<void> {
  const { thread_id: id } = JSON.parse((await lane.ask('POST', '/threads', {})).body) as {
    thread_id: string;
  };
  const input = { messages: [{ role: 'user', content: 'hello' }] };
  const reply = await lane.ask('POST', `/threads/${id}/runs/wait`, { assistant_id: 'turn', input });
  if (reply.status !== 200) throw new Error(reply.body);
}

async function measureTurn(url: string): Promise<void> {
  await withStatementCounter(`${url}?schema=turns`, (counter) =>
    withServerProcess(async (server) => {
      const lane = await openLane(server.url);
      for (let i = 0; i < WARM_TURNS; i++) await turn(lane);
      const before = { ...counter.counts };
      for (let i = 0; i < TURNS; i++) await turn(lane);
      for (const [name, bar] of [['statements', 100] as const, ['roundTrips', 30] as const])
        report({
          name: `${name === 'statements' ? 'statements' : 'round trips'} of an agent's turn of ten steps on a new thread`,
          ...{ value: (counter.counts[name] - before[name]) / TURNS, unit: '', bar: { atMost: bar } },
          against: 'creating the thread and all polls of that time counted',
        });
      lane.close();
    }, settings(counter.url)),
  );
}

/** Processor time of a database and all its connections so far. */
async function databaseOf(url: string): Promise<() => number> {
  const session = await connect(readAddress(url));
  const [row] = await session.ask<{ dir: string }>("SELECT current_setting('data_directory') AS dir");
  await session.end();
  const pid = Number(readFileSync(join(row!.dir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  // Of children that have ended the parent has the time.
  const ended = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  };
  return () => [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuSeconds(each), 0) + ended();
}

const measureRuns = (env: Record<string, string>, graph: string, lanes: number, used: () => number) =>
  withServerProcess(async ({ url, pid, dir }) => {
    const order = { kind: 'loop', base: url, flow: 'wait', graph, lanes, seconds } as const;
    await askLoop(order);
    const before = { database: used(), server: treeOf(pid), at: performance.now() };
    const { perSecond, p50, p99 } = await askLoop(order);
    // The loop warms up first: rates of its measured part, processor time of all of it.
    const runs = perSecond * ((performance.now() - before.at) / 1000);
    return {
      ...{ perSecond, p50, p99, dir },
      serverMs: ((treeOf(pid) - before.server) * 1000) / runs,
      databaseMs: ((used() - before.database) * 1000) / runs,
    };
  }, env);

const treeOf = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuSeconds(each), 0);

/** Two servers with their workers, their clients and a database each want a core. */
const CORES_FOR_TWO = 8;

async function measureTwo(url: string): Promise<void> {
  const env = settings(`${url}?schema=nodes`);
  async function rateOf(...bases: readonly string[]): Promise<number> {
    const loops = bases.map((base) =>
      askLoop({ kind: 'loop', base, flow: 'wait', graph: 'agent', lanes: LANES, seconds }),
    );
    return (await Promise.all(loops)).reduce((sum, { perSecond }) => sum + perSecond, 0);
  }
  await withServerProcess(async (first) => {
    const one = await rateOf(first.url);
    const two = await withServerProcess((second) => rateOf(first.url, second.url), env);
    const cores = availableParallelism();
    report({
      name: `run and wait, agent, ${LANES} at a time on each of two servers, of one server`,
      ...{ value: two / one, unit: '×' },
      ...(cores >= CORES_FOR_TWO && { bar: { atLeast: 1.7 } }),
      against: `${two.toFixed(0)} and ${one.toFixed(0)} /s on ${cores} cores${cores < CORES_FOR_TWO ? ', too few for a bar' : ''}`,
    });
  }, env);
}

console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`);
await withPostgres(
  async (url) => {
    await measureTurn(url);
    const used = await databaseOf(url);
    for (const [graph, lanes, bar] of [
      // First: the database cleans up behind the agent's runs for a while.
      ['plain', 1, 500],
      ['plain', PLAIN_LANES, 1_500],
      ['agent', LANES, undefined],
    ] as const) {
      const sqlite = await measureRuns({}, graph, lanes, () => 0);
      const postgres = await measureRuns(settings(`${url}?schema=runs`), graph, lanes, used);
      const show = ({ perSecond, p50, p99, serverMs }: typeof sqlite): string =>
        `${perSecond.toFixed(0)} /s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, server and worker ${serverMs.toFixed(2)} ms each`;
      report({
        name: `run and wait, ${graph}, ${lanes} at a time, of SQLite`,
        ...{ value: postgres.perSecond / sqlite.perSecond, unit: '×' },
        ...(lanes === LANES && { bar: { atLeast: 0.5 } }),
        against: `PostgreSQL ${show(postgres)}; SQLite ${show(sqlite)}`,
      });
      report({
        name: `runs a second and database core, ${graph}, ${lanes} at a time`,
        ...{ value: 1_000 / postgres.databaseMs, unit: '/s' },
        ...(bar !== undefined && { bar: { atLeast: bar } }),
        against: `database ${postgres.databaseMs.toFixed(2)} ms each`,
      });
    }
    await measureTwo(url);
  },
  { fsync: true },
);
console.log(`\n${HEAD}\n${rows.map(toLine).join('\n')}`);
