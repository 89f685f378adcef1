/**
 * Runs with webhooks on a server that is killed again and again, for a receiver that fails half of the time.
 * W1 W2: every run's webhook arrives, duplicates are the same in id and bytes, and every signature verifies.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createRandom, type Random } from '../../support/random.ts';
import { scaled } from '../../support/scaled.ts';
import { withWebhookSink, type ReceivedRequest, type WebhookSink } from '../../support/webhook-sink.ts';
import { asServer, type Programs, type ServerProgram } from '../../e2e/programs.ts';

export interface KillWebhooksOptions {
  readonly programs: Programs;
  /** Runs that have to be accepted. */
  readonly runs: number;
  readonly seed: number;
  readonly onKill?: (kills: number, accepted: number) => void;
}

const CLIENTS = 6;
/** A kill comes after so many accepted runs, counted and not timed: a slow machine is tortured as much as a fast one. */
const [FEWEST, MOST] = [25, 50];
const LONGEST_KILL_DELAY_MS = 250;
/** This share of the runs asks for no webhook. */
const SILENT = 0.1;
const LONGEST_END_MS = scaled(60_000);
const SECRET = `whsec_${Buffer.alloc(32, 'key').toString('base64')}`;

interface Accepted {
  /** By run. */
  readonly hooked: Map<string, string>;
  readonly silent: Set<string>;
}

export function killWebhooks({ programs, runs, seed, onKill }: KillWebhooksOptions): Promise<{
  problems: readonly string[];
  summary: Readonly<Record<string, number>>;
}> {
  return withWebhookSink(async (sink) => {
    const random = createRandom(seed);
    const accepted: Accepted = { hooked: new Map(), silent: new Set() };
    const count = (): number => accepted.hooked.size + accepted.silent.size;
    const problems: string[] = [];
    const taken = failHalf(sink, random, problems);
    const env = {
      PLATFORM_WEBHOOK_SECRET: SECRET,
      PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: Array.from({ length: 60 }, () => '0.05').join(),
    };
    const args = ['--port', String(await freePort())];
    let kills = 0;
    let server: ServerProgram;
    for (;;) {
      server = await asServer(programs.launchServer({ args, env }));
      const goal = Math.min(runs, count() + random.int(FEWEST, MOST));
      const clients = Array.from({ length: CLIENTS }, () =>
        beClient(server, sink, accepted, random, () => count() >= goal),
      );
      await Promise.all(clients);
      if (count() >= runs && kills > 0) break;
      await new Promise((resolve) => setTimeout(resolve, random.int(0, LONGEST_KILL_DELAY_MS)));
      await server.end('SIGKILL');
      kills += 1;
      onKill?.(kills, count());
    }
    await untilTaken(sink, taken, accepted).catch((error: Error) => problems.push(error.message));
    await server.end('SIGTERM');
    problems.push(...findBroken(sink.received, taken, accepted));
    const ids = new Set(sink.received.map(({ headers }) => headers['webhook-id']));
    return { problems, summary: { runs: count(), kills, posts: sink.received.length, webhooks: ids.size } };
  });
}

/** Creates runs until enough are accepted or the server is gone. */
async function beClient(
  server: ServerProgram,
  sink: WebhookSink,
  { hooked, silent }: Accepted,
  random: Random,
  isEnough: () => boolean,
): Promise<void> {
  for (let n = 0; !isEnough(); n++) {
    const path = `/${random.int(0, 2 ** 31)}`;
    const isSilent = random.chance(SILENT);
    const { status, json } = await server.ask('POST', '/runs', {
      assistant_id: 'echo',
      input: { messages: path },
      ...(!isSilent && { webhook: sink.url(path) }),
    });
    if (status !== 200) throw new Error(`POST /runs: ${status} ${JSON.stringify(json)}`);
    if (isSilent) silent.add(json.run_id);
    else hooked.set(json.run_id, path);
  }
}

/** The ids that were taken. A signature is good for a few minutes only, so it is checked at once. */
function failHalf(sink: WebhookSink, random: Random, problems: string[]): ReadonlySet<string> {
  const taken = new Set<string>();
  sink.otherwise(({ headers, body }, response) => {
    try {
      new Webhook(SECRET).verify(body.toString(), headers as Record<string, string>);
    } catch (error) {
      problems.push(`webhook ${headers['webhook-id']}: ${String(error)}`);
    }
    const mood = random.int(0, 5);
    if (mood === 0) return void response.socket?.resetAndDestroy();
    if (mood < 3) return void response.writeHead(500).end();
    taken.add(String(headers['webhook-id']));
    response.writeHead(200).end();
  });
  return taken;
}

const runOf = ({ body }: ReceivedRequest): string =>
  (JSON.parse(body.toString()) as { run_id: string }).run_id;

async function untilTaken(sink: WebhookSink, taken: ReadonlySet<string>, accepted: Accepted): Promise<void> {
  const missing = new Set(accepted.hooked.keys());
  for (let seen = 0; ; seen = sink.received.length) {
    for (const post of sink.received)
      if (taken.has(String(post.headers['webhook-id']))) missing.delete(runOf(post));
    if (missing.size === 0) return;
    await sink.next(Math.max(seen, sink.received.length) + 1, LONGEST_END_MS);
  }
}

function findBroken(
  received: readonly ReceivedRequest[],
  taken: ReadonlySet<string>,
  { hooked, silent }: Accepted,
): string[] {
  const problems: string[] = [];
  const idOf = new Map<string, string>();
  const bodyOf = new Map<string, Buffer>();
  for (const post of received) {
    const id = String(post.headers['webhook-id']);
    const runId = runOf(post);
    if ((idOf.get(runId) ?? id) !== id) problems.push(`run ${runId} has two webhook ids`);
    if (bodyOf.get(id)?.equals(post.body) === false) problems.push(`webhook ${id} has two bodies`);
    if (silent.has(runId)) problems.push(`run ${runId} asked for no webhook`);
    if (hooked.has(runId) && hooked.get(runId) !== post.url)
      problems.push(`the webhook of run ${runId} went to ${post.url}`);
    idOf.set(runId, id);
    bodyOf.set(id, post.body);
  }
  for (const runId of hooked.keys())
    if (!taken.has(idOf.get(runId) ?? '')) problems.push(`the webhook of run ${runId} never arrived`);
  return problems;
}

/** Below the range that systems take the ports of outgoing connections from: nobody has it at the next start. */
async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
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
