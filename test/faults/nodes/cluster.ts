/** Three servers on one database, each of which reaches it through a relay of its own; the clock of one is ten minutes ahead. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import type { Row } from '../../../src/store/port/rows.ts';
import { withPrograms, type Programs, type ServerProgram } from '../../e2e/programs.ts';
import { startPostgres, type Postgres } from '../../support/postgres.ts';
import { withTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';

export interface Node {
  /** Undefined while the node is down. */
  server: ServerProgram | undefined;
  readonly proxy: TcpProxy;
  start(): Promise<void>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export interface Cluster {
  readonly nodes: readonly Node[];
  readonly database: Postgres;
  /** Of the schema. */
  readonly url: string;
  /** Asks the database itself. */
  ask<T extends Row>(sql: string): Promise<T[]>;
  /** A further server for as long as `use` takes. */
  withNode<T>(use: () => Promise<T>): Promise<T>;
}

export interface ClusterOptions {
  /** The folder of another release, which is that of the second node. */
  readonly release?: string | undefined;
}

const NODES = 3;
const PROJECT = fileURLToPath(new URL('./project/', import.meta.url));
const AHEAD = { NODE_OPTIONS: `--import=${join(PROJECT, 'clock-ahead.mjs')}` };
const PAUSES_SECS = Array.from({ length: 60 }, () => '0.2').join();

/** Lends the cluster, all of whose servers run. */
export async function withCluster<T>(
  { release }: ClusterOptions,
  use: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const database = await startPostgres({ fsync: true });
  try {
    return await withPrograms((programs) => withNodes({ programs, database, release, use }, []));
  } finally {
    await database.stop();
  }
}

interface Setup<T> extends ClusterOptions {
  readonly programs: Programs;
  readonly database: Postgres;
  readonly use: (cluster: Cluster) => Promise<T>;
}

function withNodes<T>(setup: Setup<T>, nodes: readonly Node[]): Promise<T> {
  const { programs, database, release, use } = setup;
  const url = `${database.url}?schema=nodes&pool=5`;

  const start = (at: string, place: number): Promise<ServerProgram> =>
    programs.serve({
      args: ['--config', join(PROJECT, 'platform.json'), '--data', join(programs.dir, randomUUID())],
      env: {
        PLATFORM_DATABASE_URL: at,
        PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: PAUSES_SECS,
        ...(place === 2 && AHEAD),
      },
      ...(place === 1 && release !== undefined && { script: join(release, 'scripts/start.mjs') }),
    });

  let session: Session | undefined;
  async function ask<R extends Row>(sql: string): Promise<R[]> {
    if (session?.isLost !== false) session = await connect(readAddress(url));
    return session.ask<R>(sql);
  }

  async function withNode<R>(work: () => Promise<R>): Promise<R> {
    const server = await start(url, NODES);
    try {
      return await work();
    } finally {
      await server.end('SIGTERM');
    }
  }

  if (nodes.length === NODES)
    return Promise.all(nodes.map((node) => node.start())).then(() =>
      use({ nodes, database, url, ask, withNode }).finally(() => session?.end()),
    );
  return withTcpProxy(url, (proxy) => {
    const node: Node = {
      ...{ server: undefined, proxy },
      async start() {
        node.server = await start(url.replace(new URL(url).host, new URL(proxy.url).host), nodes.length);
      },
      async end(signal) {
        const { server } = node;
        node.server = undefined;
        await server?.end(signal);
      },
    };
    return withNodes(setup, [...nodes, node]);
  });
}

/** Resolves when the database sees all nodes alive again, and nothing is left to do. */
export async function settle({ ask, nodes }: Cluster): Promise<void> {
  await until('all runs end, all webhooks are sent, all nodes live', async () => {
    const [left] = await ask<{ open: number; owed: number; nodes: number }>(
      `SELECT (SELECT count(*) FROM runs WHERE ended_at IS NULL) AS open,
         (SELECT count(*) FROM deliveries WHERE next_at IS NOT NULL) AS owed,
         (SELECT count(*) FROM nodes WHERE cut_off = 0
           AND renewed_at > extract(epoch FROM clock_timestamp()) * 1000 - 15000) AS nodes`,
    );
    return left!.open === 0 && left!.owed === 0 && left!.nodes >= nodes.length;
  });
}
