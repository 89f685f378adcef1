/** What a case of `cases.ts` is given, and what it asks of the servers. */
import type { ServerProgram } from '../../e2e/programs.ts';
import type { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import type { Cluster, Node } from './cluster.ts';

export interface Scene {
  readonly cluster: Cluster;
  readonly random: Random;
  /** 0, 1, 2 …: ways of a case take turns. */
  readonly round: number;
  readonly problems: string[];
  readonly webhookUrl: (path: string) => string;
  /** Call when the disturbance begins, and when one ends during which nothing can go on. */
  mark(): void;
  /** How long it took after the disturbance until all went on, milliseconds. */
  recovered(ms: number): void;
  /** How many races there are in a round of `rejected`. */
  readonly races: number;
}

export interface Case {
  readonly title: string;
  /** No server ends or is cut off against its will. */
  readonly isGentle: boolean;
  /** Servers end without taking leave. */
  readonly kills?: true;
  /** Resolves when the cluster is whole again, or will be by itself. */
  disturb(scene: Scene): Promise<void>;
}

export const serverOf = ({ server }: Node): ServerProgram => server!;

/** Resolves when each run that executes does so on a node that lives. */
export const takenOver = ({ ask }: Cluster): Promise<void> =>
  until('the runs of nodes that are gone are taken over', async () => {
    const [left] = await ask<{ count: number }>(
      `SELECT count(*) AS count FROM queue WHERE due_at IS NULL AND NOT EXISTS (SELECT 1 FROM nodes
         WHERE id = holder AND cut_off = 0 AND renewed_at > extract(epoch FROM clock_timestamp()) * 1000 - 15000)`,
    );
    return left!.count === 0;
  });

/** A node that executes a run. */
export async function busyNode({ nodes, ask }: Cluster, random: Random): Promise<Node> {
  const ids = await Promise.all(
    nodes.map(async (node) => {
      const { json } = await serverOf(node).ask('GET', '/server');
      return (json.nodes as { id: string; self: boolean }[]).find(({ self }) => self)?.id;
    }),
  );
  let busy: Node[] = [];
  await until('a node executes a run', async () => {
    const held = await ask<{ holder: string }>('SELECT DISTINCT holder FROM queue WHERE due_at IS NULL');
    busy = nodes.filter((_, i) => held.some(({ holder }) => holder === ids[i]));
    return busy.length > 0;
  });
  return random.pick(busy);
}
