/** Cases in which servers lose the database for longer than a node may be silent. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../e2e/programs.ts';
import { scaled } from '../../support/scaled.ts';
import type { Direction } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import type { Node } from './cluster.ts';
import { busyNode, serverOf, takenOver, type Case, type Scene } from './scene.ts';

const MIN_AWAY_MS = 20_000;
const MAX_AWAY_MS = 40_000;
/** For so long a request may wait for a database that is away; what may be done waits until that is known. */
const MAX_ANSWER_MS = scaled(25_000);
const MAX_RECOVERY_MS = scaled(10_000);
const ASK_EACH_MS = 500;

export const databaseAway: Case = {
  title: 'all servers lose the database for 20 to 40 s',
  isGentle: false,
  async disturb(scene) {
    const { cluster, random, round } = scene;
    const { nodes, database } = cluster;
    const awayMs = random.int(MIN_AWAY_MS, MAX_AWAY_MS);
    const asked = askMeanwhile(nodes, scene);
    scene.mark();
    if (round % 2 === 0) await database.restart(() => pause(awayMs));
    else {
      for (const { proxy } of nodes) proxy.goAway();
      await pause(awayMs);
      for (const { proxy } of nodes) proxy.comeBack();
    }
    await recover(nodes, scene, asked);
  },
};

const HANGS: readonly { readonly direction?: Direction; readonly old?: 'stay silent' }[] = [
  { old: 'stay silent' },
  { direction: 'requests' },
  { direction: 'answers', old: 'stay silent' },
  {},
];

export const databaseSilent: Case = {
  title: 'connections of one server, or of all, take bytes and give none for 20 to 40 s',
  isGentle: false,
  async disturb(scene) {
    const { cluster, random, round } = scene;
    const isOne = round % 2 === 1;
    const nodes = isOne ? [await busyNode(cluster, random)] : cluster.nodes;
    const { direction, old } = HANGS[(round >> 1) % HANGS.length]!;
    const asked = askMeanwhile(nodes, scene);
    scene.mark();
    for (const { proxy } of nodes) proxy.hang(direction);
    await pause(random.int(MIN_AWAY_MS, MAX_AWAY_MS));
    for (const { proxy } of nodes) proxy.comeBack(old);
    await recover(nodes, scene, asked);
  },
};

interface Asked {
  stop(): Promise<void>;
}

/** Asks servers that lose the database for something again and again: they answer, with 503 while it is away. */
function askMeanwhile(nodes: readonly Node[], { problems }: Scene): Asked {
  const path = `/threads/${randomUUID()}`;
  const asked = new Set<Promise<void>>();
  let isOver = false;
  async function ask(node: Node, method: string, at: string, expected: number, body?: object): Promise<void> {
    const since = performance.now();
    const tell = (what: string): void =>
      void problems.push(`${method} ${at} ${Math.round(performance.now() - since)} ms: ${what}`);
    const answer = await serverOf(node)
      .ask(method, at, body)
      .catch((error: unknown) => tell(String(error)));
    if (answer === undefined) return;
    const { status, headers } = answer;
    if (status === 503 ? headers.get('retry-after') === null : status !== expected) tell(`${status}`);
    const mostMs = MAX_ANSWER_MS + (method === 'GET' ? 0 : MAX_AWAY_MS);
    if (performance.now() - since > mostMs) tell('the answer came late');
  }
  async function keepAsking(node: Node): Promise<void> {
    while (!isOver) {
      for (const each of [ask(node, 'GET', path, 404), ask(node, 'POST', '/threads', 200, {})]) {
        asked.add(each);
        void each.then(() => asked.delete(each));
      }
      await pause(ASK_EACH_MS);
    }
  }
  const done = nodes.map(keepAsking);
  return {
    async stop() {
      isOver = true;
      await Promise.all(done);
      await Promise.all(asked);
    },
  };
}

/** Resolves when every server answers, all nodes live, and every run that may execute does. */
async function recover(nodes: readonly Node[], scene: Scene, asked: Asked): Promise<void> {
  const { cluster, problems, mark, recovered } = scene;
  const since = performance.now();
  const elapsed = (): number => Math.round(performance.now() - since);
  mark();
  const isBack = (node: Node): Promise<void> =>
    until('the server is back', async () => {
      const answers: Answer[] = await Promise.all([
        serverOf(node).ask('GET', '/ok'),
        serverOf(node).ask('GET', `/threads/${randomUUID()}`),
      ]);
      return isDeepStrictEqual(
        answers.map(({ status }) => status),
        [200, 404],
      );
    });
  await Promise.all(nodes.map(isBack));
  const answeredMs = elapsed();
  await takenOver(cluster);
  const ms = elapsed();
  recovered(ms);
  if (ms > MAX_RECOVERY_MS)
    problems.push(`X5 recovered ${ms} ms after the database was back, ${answeredMs} ms to answers`);
  await asked.stop();
}
