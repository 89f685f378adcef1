/** What servers on one database go through while clients are at work: each case disturbs the cluster and heals it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import type { Answer, ServerProgram } from '../../e2e/programs.ts';
import { until } from '../../support/until.ts';
import { databaseAway, databaseSilent } from './away.ts';
import { busyNode, serverOf, takenOver, type Case } from './scene.ts';

const killed: Case = {
  title: 'a server is killed',
  isGentle: false,
  kills: true,
  async disturb({ cluster, random, mark }) {
    const node = await busyNode(cluster, random);
    mark();
    await node.end('SIGKILL');
    // The machine may come back at once, or when others have gone on with its runs.
    const isQuick = random.chance(0.5);
    if (isQuick) await node.start();
    await takenOver(cluster);
    if (!isQuick) await node.start();
  },
};

/** Longer than a node may be silent. */
const FROZEN_MS = 30_000;

const frozen: Case = {
  title: 'a server is frozen for 30 s',
  isGentle: false,
  async disturb({ cluster, random, round, mark }) {
    const { pid, ask } = serverOf(await busyNode(cluster, random));
    const { workers } = (await ask('GET', '/server')).json as { workers: { pid: number }[] };
    // A process may be frozen, or a whole machine.
    const frozenPids = round % 2 === 0 ? [pid] : [pid, ...workers.map((worker) => worker.pid)];
    mark();
    for (const each of frozenPids) process.kill(each, 'SIGSTOP');
    await pause(FROZEN_MS);
    for (const each of frozenPids.reverse()) process.kill(each, 'SIGCONT');
  },
};

const LOSSES = ['goAway', 'hang', 'goAwayAfterCommit'] as const;
/** Too short to be noticed, long enough for the node to give up, and for others to take over. */
const AWAY_MS = [20_000, 2_000, 12_000];
/** Others have taken over from a node that was away for longer. */
const MAX_AWAY_MS = 15_000;

const partitioned: Case = {
  title: 'a server loses the database, also behind a commit',
  isGentle: false,
  async disturb({ cluster, random, round, mark }) {
    const node = await busyNode(cluster, random);
    const awayMs = AWAY_MS[Math.floor(round / LOSSES.length) % AWAY_MS.length]!;
    mark();
    node.proxy[LOSSES[round % LOSSES.length]!]();
    await pause(awayMs);
    const standing = (): Promise<Answer> => serverOf(node).ask('GET', '/ok');
    if (awayMs > MAX_AWAY_MS)
      await until('a load balancer is told', async () => (await standing()).status === 503);
    node.proxy.comeBack();
    await until('the server is back', async () => (await standing()).json.nodes === cluster.nodes.length);
  },
};

const databaseRestarted: Case = {
  title: 'the database ends at once and starts again',
  isGentle: false,
  async disturb({ cluster: { database }, random, mark }) {
    mark();
    for (let times = random.int(1, 3); times > 0; times--) {
      await database.restart();
      await pause(random.int(0, 1_000));
    }
  },
};

const CREATES = 30;
/** Races that are run at a time. */
const RACING = 5;

const rejected: Case = {
  title: 'thirty clients create a run on one thread at once, and one is accepted',
  isGentle: true,
  async disturb({ cluster: { nodes }, problems, races, mark }) {
    const on = (place: number): ServerProgram => serverOf(nodes[place % nodes.length]!);
    const create = (path: string, place: number, pauseMs: number): Promise<Answer> =>
      on(place).ask('POST', `${path}/runs`, {
        ...{ assistant_id: 'paced', multitask_strategy: 'reject', input: {} },
        config: { configurable: { pauseMs } },
      });
    async function race(place: number): Promise<void> {
      const threadId = randomUUID();
      const path = `/threads/${threadId}`;
      await on(place).ask('POST', '/threads', { thread_id: threadId });
      const answers = await Promise.all(Array.from({ length: CREATES }, (_, i) => create(path, i, 600_000)));
      const [won, lost] = [200, 409].map((status) => answers.filter((answer) => answer.status === status));
      if (won!.length !== 1 || lost!.length !== CREATES - 1)
        problems.push(`X1 ${path}: ${answers.map(({ status }) => status)}`);
      for (const { json } of won!)
        await on(place + 1).ask('POST', `${path}/runs/${json.run_id}/cancel?action=interrupt&wait=1`);
      // The other servers have held the thread as a busy one.
      const { status } = await create(path, place + 2, 0);
      if (status !== 200) problems.push(`X1 ${path}: ${status} after the winner's end`);
    }
    mark();
    for (let first = 0; first < races; first += RACING)
      await Promise.all(Array.from({ length: Math.min(RACING, races - first) }, (_, i) => race(first + i)));
  },
};

const SHORT_LIVES = 30;

const swept: Case = {
  title: 'five servers delete what is past its time',
  isGentle: true,
  async disturb({ cluster, problems, mark }) {
    const { nodes, withNode } = cluster;
    mark();
    const sweep = async (): Promise<void> => {
      const make = async (ttl: number): Promise<string> => {
        const { json } = await serverOf(nodes[0]!).ask('POST', '/threads', { ttl });
        return json.thread_id;
      };
      const expiring = await Promise.all(Array.from({ length: SHORT_LIVES }, () => make(0.02)));
      const staying = await make(60);
      const status = async (thread: string): Promise<number> =>
        (await serverOf(nodes[1]!).ask('GET', `/threads/${thread}`)).status;
      await until('threads whose time is over are deleted', async () =>
        (await Promise.all(expiring.map(status))).every((code) => code === 404),
      );
      if ((await status(staying)) !== 200) problems.push(`thread ${staying} was swept before its time`);
      const found = await cluster.ask<{ stream: string; tombstones: number }>(
        `SELECT stream, count(*) AS tombstones FROM events WHERE type = 'ThreadDeleted' GROUP BY stream`,
      );
      const tombstones = new Map(found.map((row) => [row.stream, row.tombstones]));
      for (const thread of expiring)
        if (tombstones.get(`thread-${thread}`) !== 1)
          problems.push(`thread ${thread} has ${tombstones.get(`thread-${thread}`)} tombstones`);
    };
    await withNode(() => withNode(sweep));
  },
};

const ALL_DOWN_MS = 3_000;

const cronsDue: Case = {
  title: 'crons are due while all servers are down, and all start together',
  isGentle: true,
  async disturb({ cluster, problems, webhookUrl, mark }) {
    const { nodes, ask } = cluster;
    const webhook = webhookUrl(`/cron-${randomUUID()}`);
    const cron = { schedule: '* * * * * *', assistant_id: 'paced', input: {}, webhook };
    const made = await Promise.all(nodes.map((node) => serverOf(node).ask('POST', '/runs/crons', cron)));
    const ids = made.map(({ json }) => json.cron_id as string);
    const fired = async () =>
      ask<{ cron: string; slots: number; fired: number; runs: number; latest: number }>(
        `SELECT stream AS cron, count(*) AS fired, count(DISTINCT data ->> 'slot') AS slots,
           count(DISTINCT data ->> 'runId') AS runs, max(at) AS latest
         FROM (SELECT stream, at, convert_from(data, 'UTF8')::json AS data FROM events WHERE type = 'CronFired')
         GROUP BY stream`,
      );
    const all = async (than: number): Promise<boolean> => {
      const rows = await fired();
      return ids.every((id) => rows.some(({ cron: stream, latest }) => stream.endsWith(id) && latest > than));
    };
    await until('crons fire', () => all(0));
    mark();
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    await pause(ALL_DOWN_MS);
    const startedAt = Date.now();
    await Promise.all(nodes.map((node) => node.start()));
    await until('crons fire again', () => all(startedAt));
    for (const id of ids) await serverOf(nodes[0]!).ask('PATCH', `/runs/crons/${id}`, { enabled: false });
    for (const { cron: stream, fired: count, slots, runs } of await fired())
      if (count !== slots || count !== runs)
        problems.push(`I6 ${stream} fired ${count} times in ${slots} slots, with ${runs} runs`);
  },
};

const HELD_MS = 5_000;
const LOCKED_MS = 2_000;

const longTransaction: Case = {
  title: 'another program has a long transaction',
  isGentle: true,
  async disturb({ cluster: { url }, round, mark }) {
    const other = await connect(readAddress(url));
    mark();
    await other.ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.ask('SELECT count(*) FROM events');
    await other.ask('CREATE TABLE IF NOT EXISTS theirs (number integer)');
    await other.ask('INSERT INTO theirs VALUES (1)');
    await pause(HELD_MS);
    // As the other program builds an index, nobody writes.
    if (round % 2 === 1) await other.ask('LOCK TABLE events, runs IN SHARE MODE');
    await pause(LOCKED_MS);
    await other.ask('ROLLBACK');
    await other.end();
  },
};

const rolling: Case = {
  title: 'all servers are restarted in turn',
  isGentle: true,
  async disturb({ cluster: { nodes }, mark }) {
    mark();
    for (const node of nodes) {
      await node.end('SIGTERM');
      await node.start();
    }
  },
};

export const CASES: Readonly<Record<string, Case>> = {
  killed,
  frozen,
  partitioned,
  databaseRestarted,
  databaseAway,
  databaseSilent,
  rejected,
  swept,
  cronsDue,
  longTransaction,
  rolling,
};
