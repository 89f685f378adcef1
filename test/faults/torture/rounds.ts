/** Starts the server, lets clients loose on it, kills it, and starts it again on what is left. */
import { appendFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Database } from '../../../src/store/sqlite/library.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { scaled } from '../../support/scaled.ts';
import { PROJECT } from '../../support/with-server.ts';
import { withWebhookSink, type WebhookSink } from '../../support/webhook-sink.ts';
import { asServer, type Program, type Programs, type ServerProgram } from '../../e2e/programs.ts';
import { beClient } from './client.ts';
import { findBroken } from './checks.ts';
import { openInsister } from './insister.ts';
import { openKeeper, type Keeper } from './keeper.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { findErased } from './remains.ts';

export interface Tortured {
  /** Every broken promise; empty when all is well. */
  readonly problems: readonly string[];
  /** What there was to break. */
  readonly summary: Readonly<Record<string, number>>;
}

export interface TortureOptions {
  readonly programs: Programs;
  readonly kills: number;
  readonly seed: number;
  /** How many clients send everything again until they are answered; none unless told otherwise. */
  readonly insisters?: number;
  readonly onRound?: (round: number, killedAfterMs: number) => void;
}

const CLIENTS = 6;
const KEEPERS = 3;
/** A keeper looks at all that it has after every kill, so after so many others begin anew; it looks once more at the end. */
const KEEPING_ROUNDS = 40;
/** A round's kill comes within a few milliseconds of this many answers at the most. */
const MAX_ANSWERS = 40;
/** This share of the kills hits a server that is still starting. */
const EARLY_KILLS = 0.2;
const SECRET = `whsec_${Buffer.alloc(32, 'key').toString('base64')}`;
/** A webhook that fails is tried again at once, so that half of all may fail. */
const ENV = {
  PLATFORM_WEBHOOK_SECRET: SECRET,
  PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: Array.from({ length: 60 }, () => '0.05').join(),
};
/** From the last start to the end of the last run. */
const LONGEST_END_MS = scaled(60_000);

export function torture(options: TortureOptions): Promise<Tortured> {
  const { programs, kills, seed, onRound } = options;
  return withWebhookSink(async (sink) => {
    const random = createRandom(seed);
    const ledger = openLedger();
    const gate = join(programs.dir, 'gate');
    const data = join(programs.dir, 'data');
    const config = join(PROJECT, 'platform.json');
    const args = ['--config', config, '--port', String(await freePort(random)), '--data', data];
    const accepted = failHalf(sink, random, ledger.problems);
    const openKeepers = (round: number): Keeper[] =>
      Array.from({ length: KEEPERS }, (_, i) => openKeeper(`keeper${round}-${i}`, ledger.problems));
    let keepers = openKeepers(1);
    const retired: Keeper[] = [];
    const insisters = Array.from({ length: options.insisters ?? 0 }, (_, i) =>
      openInsister({ name: `insister${i}`, random: createRandom(seed + i), ledger, gate }),
    );

    for (let round = 1; round <= kills; round++) {
      if (round % KEEPING_ROUNDS === 0) {
        retired.push(...keepers);
        keepers = openKeepers(round);
      }
      const program = programs.launchServer({ args, env: ENV });
      const early = round > 1 && random.chance(EARLY_KILLS);
      const ms = early ? random.int(50, 1_000) : random.int(0, 40);
      const answers = countAnswers(early ? undefined : await asServer(program));
      const { server } = answers;
      // The first requests of a process are slow: a kill would always hit the same few.
      await server?.ask('POST', '/runs/wait', { assistant_id: 'echo', input: { messages: 'awake?' } });
      if (server !== undefined) for (const keeper of keepers) await keeper.inspect(server);
      const clients = Array.from({ length: server === undefined ? 0 : CLIENTS }, (_, client) =>
        beClient({
          server: server!,
          random: createRandom(seed + round * CLIENTS + client),
          ledger,
          webhookUrl: sink.url,
          gate,
        }),
      );
      if (server !== undefined) for (const insister of insisters) insister.use(server);
      if (server !== undefined)
        clients.push(
          ...keepers.map((keeper, i) => keeper.work(server, createRandom(seed - round * KEEPERS - i))),
        );
      // Counted in answers and not in time: a slow machine is tortured as much as a fast one.
      if (!early) await answers.reach(random.int(5, MAX_ANSWERS));
      await killAfter(program, ms);
      await Promise.all(clients);
      await appendFile(join(programs.dir, 'output.log'), program.output());
      onRound?.(round, ms);
    }

    await writeFile(gate, '');
    const server = await programs.serve({ args, env: ENV });
    for (const insister of insisters) insister.use(server);
    await inTime(Promise.all(insisters.map((insister) => insister.finish()))).catch((error: Error) =>
      ledger.problems.push(`a client that insists ${error.message}`),
    );
    await undo(server, ledger, sink);
    const all = [...retired, ...keepers];
    await settle(server, join(data, 'log.db'), sink, accepted).then(
      async () => {
        for (const keeper of all) await keeper.inspect(server);
      },
      (error: Error) =>
        ledger.problems.push(`not everything came to its end: ${error.message.slice(0, 200)}`),
    );
    const erased = new Set(all.flatMap(({ erased }) => [...erased]));
    ledger.problems.push(...findErased(data, erased));
    await server.end('SIGTERM');
    await appendFile(join(programs.dir, 'output.log'), server.output());
    return {
      problems: [...ledger.problems, ...(await findBroken(data, ledger, sink.received))],
      summary: {
        kills,
        threads: ledger.threads.size,
        runs: ledger.runs.size,
        streams: ledger.streams.size,
        broken: [...ledger.streams.values()].filter(({ complete }) => !complete).length,
        deletions: ledger.deletions.size,
        webhooks: sink.received.length,
        changes: all.reduce((sum, { changes }) => sum + changes(), 0),
        erased: erased.size,
        repeated: insisters.reduce((sum, { figures }) => sum + figures().repeated, 0),
        talks: insisters.reduce((sum, { figures }) => sum + figures().talks, 0),
        once: ledger.once.size,
      },
    };
  });
}

/** The same server, with its answers counted. */
function countAnswers<S extends ServerProgram | undefined>(
  server: S,
): { server: S; reach(count: number): Promise<void> } {
  let left = Infinity;
  let reached = (): void => undefined;
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    const given = await answer;
    left -= 1;
    if (left <= 0) reached();
    return given;
  };
  return {
    server: server && {
      ...server,
      ask: (...request) => counted(server.ask(...request)),
      open: (...request) => counted(server.open(...request)),
    },
    reach: (count) =>
      new Promise((resolve) => {
        left = count;
        reached = resolve;
      }),
  };
}

/** The moment of the kill is the experiment: nothing waits for this time to pass. */
const killAfter = (program: Program, ms: number): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, ms)).then(() => program.end('SIGKILL'));

function inTime<T>(work: Promise<T>): Promise<T> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error('came to no end')), LONGEST_END_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(limit));
}

/** The ids of deliveries that were taken. A signature is good for a few minutes only, so it is checked at once. */
function failHalf(sink: WebhookSink, random: Random, problems: string[]): ReadonlySet<string> {
  const accepted = new Set<string>();
  sink.otherwise(({ headers, body }, response) => {
    const id = String(headers['webhook-id']);
    try {
      new Webhook(SECRET).verify(body.toString(), headers as Record<string, string>);
    } catch (error) {
      problems.push(`webhook ${id}: ${String(error)}`);
    }
    const mood = random.int(0, 5);
    if (mood === 0) return void response.socket?.resetAndDestroy();
    if (mood < 3) return void response.writeHead(500).end();
    accepted.add(id);
    response.writeHead(200).end();
  });
  return accepted;
}

/** Rolls back a run that asked for a webhook: the log forgets that it did, and the receiver is told (W1). */
async function undo(server: ServerProgram, { runs, webhooks }: Ledger, sink: WebhookSink): Promise<void> {
  const { json: thread } = await server.ask('POST', '/threads', {});
  const [threadId, tag] = [thread.thread_id, 'undone'];
  const body = { assistant_id: 'echo', after_seconds: 3_600, webhook: sink.url(`/${tag}`) };
  const { json: run } = await server.ask('POST', `/threads/${threadId}/runs`, body);
  runs.set(run.run_id, { threadId, tag, graph: 'echo', rollback: true });
  webhooks.set(`/${tag}`, run.run_id);
  await server.ask('POST', `/threads/${threadId}/runs/${run.run_id}/cancel?action=rollback`);
}

/** Resolves when every run has ended and every webhook was taken. Rejects when that takes too long. */
async function settle(
  server: ServerProgram,
  file: string,
  sink: WebhookSink,
  accepted: ReadonlySet<string>,
): Promise<void> {
  const db = new Database(file, { readonly: true });
  const open = db.prepare<[], { thread_id: string; run_id: string }>(
    'SELECT thread_id, run_id FROM runs WHERE ended_at IS NULL',
  );
  // A run that never ends takes its server with it, so that what is wrong is told instead of waited for.
  const limit = setTimeout(() => void server.end('SIGKILL'), LONGEST_END_MS);
  for (let left = open.all(); left.length > 0; left = open.all())
    await Promise.all(
      left.map(({ thread_id, run_id }) => server.ask('GET', `/threads/${thread_id}/runs/${run_id}/join`)),
    );
  clearTimeout(limit);
  const owed = db.prepare<[], { delivery_id: string }>('SELECT delivery_id FROM deliveries').all();
  db.close();
  while (owed.some(({ delivery_id }) => !accepted.has(delivery_id)))
    await sink.next(sink.received.length + 1, LONGEST_END_MS);
}

/** Below the range that systems take the ports of outgoing connections from: nobody has it at the next start. */
async function freePort(random: Random): Promise<number> {
  for (;;) {
    const port = random.int(20_000, 32_000);
    const probe = createServer().listen(port, '127.0.0.1');
    const free = await Promise.race([
      once(probe, 'listening').then(() => true),
      once(probe, 'error').then(() => false),
    ]).catch(() => false);
    if (!free) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
