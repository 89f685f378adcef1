/** Rounds of a case: clients work, the case disturbs, all comes to its end, and everything is checked. */
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../../support/random.ts';
import type { ReceivedRequest, WebhookSink } from '../../support/webhook-sink.ts';
import { CASES } from './cases.ts';
import { checkRound, type Checked } from './checks.ts';
import { beClient, type Notes } from './clients.ts';
import { settle, type Cluster } from './cluster.ts';

export interface RoundsOptions {
  readonly cluster: Cluster;
  readonly sink: WebhookSink;
  /** A name of `CASES`. */
  readonly name: string;
  readonly rounds: number;
  readonly seed: number;
  readonly races: number;
  readonly onRound?: (figures: Figures) => void;
}

export interface Figures extends Checked {
  /** Requests that were sent again. */
  readonly repeated: number;
  /** How long it took after the disturbance until all went on, milliseconds. */
  readonly recovered: readonly number[];
}

const CLIENTS = 4;
/** This share of all webhooks is refused at first. */
const REFUSED = 0.1;

/** The figures of each round; problems name their round. */
export async function runRounds(options: RoundsOptions): Promise<Figures[]> {
  const { name, rounds, onRound } = options;
  const all: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    const { problems, ...figures } = await runRound(options, round);
    const named = { ...figures, problems: problems.map((problem) => `${name} ${round}: ${problem}`) };
    all.push(named);
    onRound?.(named);
  }
  return all;
}

async function runRound(
  { cluster, sink, name, seed, races }: RoundsOptions,
  round: number,
): Promise<Figures> {
  const { isGentle, kills = false, disturb } = CASES[name]!;
  const { nodes } = cluster;
  const random = createRandom(seed + round);
  const notes: Notes = { threads: new Map(), runs: new Map(), problems: [], repeated: 0 };
  const taken: ReceivedRequest[] = [];
  sink.otherwise((request, response) => {
    const isTaken = !random.chance(REFUSED);
    if (isTaken) taken.push(request);
    response.writeHead(isTaken ? 200 : 500).end();
  });
  const since = Date.now();
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    beClient({ nodes, notes, webhookUrl: sink.url, random: createRandom(seed + 1_000 * (round + 1) + i) }),
  );
  // The clients are in the middle of something, and each time of something else.
  await pause(random.int(500, 2_500));
  let disturbedAt = Infinity;
  const mark = (): void => void (disturbedAt = Date.now());
  const recovered: number[] = [];
  await disturb({
    ...{ cluster, random, round, races, mark, problems: notes.problems, webhookUrl: sink.url },
    recovered: (ms) => void recovered.push(ms),
  });
  await Promise.all(clients.map((client) => client.stop()));
  await settle(cluster);
  const checked = await checkRound({ cluster, notes, taken, since, disturbedAt, isGentle, kills });
  return { ...checked, recovered, repeated: notes.repeated };
}
