/** What must hold when a round is over: of the events of all its streams, of what clients were told, and on every node. */
import { verify } from '../../../src/past/verify/verify.ts';
import { storeAt } from '../../../src/open-store.ts';
import { collect } from '../../e2e/frames.ts';
import type { ReceivedRequest } from '../../support/webhook-sink.ts';
import { scaled } from '../../support/scaled.ts';
import type { Notes, NotedRun } from './clients.ts';
import type { Cluster } from './cluster.ts';

interface EventRow {
  readonly [column: string]: string | number | null;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly at: number;
  readonly data: string;
}

export interface Round {
  readonly cluster: Cluster;
  readonly notes: Notes;
  /** Webhooks that were taken. */
  readonly taken: readonly ReceivedRequest[];
  /** Of the round's begin and of what disturbed it, by the database's clock. */
  readonly since: number;
  readonly disturbedAt: number;
  /** No server ended or was cut off against its will: nothing is sent twice and no attempt is lost. */
  readonly isGentle: boolean;
  /** Servers ended without taking leave: the only ones whose deaths count. */
  readonly kills: boolean;
}

export interface Checked {
  readonly problems: string[];
  readonly runs: number;
  /** How long it took until a run whose server was gone went on elsewhere, milliseconds. */
  readonly takeovers: number[];
  /** How often runs were queued again, by reason. */
  readonly requeued: Readonly<Record<string, number>>;
}

export async function checkRound(round: Round): Promise<Checked> {
  const { cluster, notes, since } = round;
  const events = await cluster.ask<EventRow>(
    `SELECT stream, version, type, at, convert_from(data, 'UTF8') AS data FROM events AS e
     WHERE EXISTS (SELECT 1 FROM events WHERE stream = e.stream AND version = 1 AND at >= ${since - MAX_LAG_MS})
     ORDER BY stream COLLATE "C", version`,
  );
  const { problems, runs, takeovers, requeued } = checkStreams(events, round);
  problems.push(...notes.problems, ...checkNotes(runs, notes), ...checkWebhooks(events, round));
  problems.push(...(await checkRows(cluster)));
  for (const run of notes.runs.values())
    if (run !== undefined) problems.push(...(await checkFrames(run, cluster)));
  const history = await storeAt(cluster.url).openPast();
  try {
    const { finding } = await verify(history);
    if (finding !== undefined) problems.push(`I8 verify: ${finding.problem}`);
  } finally {
    await history.close();
  }
  return { problems, runs: runs.size, takeovers, requeued };
}

/** A node follows the database's clock from afar. */
const MAX_LAG_MS = 1_000;
/** The time for which a node may be silent, and that of a poll. */
const MAX_TAKEOVER_MS = scaled(20_000);

interface FoundRun {
  readonly tag: unknown;
  readonly threadId: string;
  outcomes: string[];
}

/** I1, I3, I4, I5, I6, I10: each stream on its own. */
function checkStreams(events: readonly EventRow[], { disturbedAt, kills }: Round) {
  const problems: string[] = [];
  const runs = new Map<string, FoundRun>();
  const takeovers: number[] = [];
  const requeued: Record<string, number> = {};
  let isLost = false;
  const slots = new Set<string>();
  let stream = '';
  let version = 0;
  let active: { runId: string; attempt: number } | undefined;
  for (const { data: text, ...event } of events) {
    if (event.stream !== stream) [stream, version, active] = [event.stream, 0, undefined];
    const tell = (what: string): void =>
      void problems.push(`${what}: ${event.type} ${stream} ${event.version} ${text}`);
    if (event.version !== (version += 1)) tell('I5 a version is missing');
    version = event.version;
    const data = JSON.parse(text);
    switch (event.type) {
      case 'RunCreated':
        runs.set(data.runId, { tag: data.metadata.tag, threadId: data.threadId, outcomes: [] });
        break;
      case 'RunStarted':
        if (active !== undefined) tell('I1 two attempts at once');
        active = data;
        if (data.attempt > 1 && isLost) takeovers.push(event.at - disturbedAt);
        if (isLost && event.at - disturbedAt > MAX_TAKEOVER_MS) tell('X5 a run went on too late');
        isLost = false;
        break;
      case 'RunRequeued':
        if (data.deaths > 0 && !kills) tell('X6 a death is charged');
        isLost = data.incarnation !== undefined;
        requeued[data.reason] = (requeued[data.reason] ?? 0) + 1;
        active = undefined;
        break;
      case 'RunBegun':
      case 'CheckpointSaved':
        if (active?.runId !== data.runId || active?.attempt !== data.attempt)
          tell('I3 I10 a stale attempt wrote');
        break;
      case 'RunCompleted':
        if (active !== undefined && active.runId === data.runId && data.attempt !== active.attempt)
          tell('I3 a stale attempt ended the run');
        if (active?.runId === data.runId) active = undefined;
        runs.get(data.runId)?.outcomes.push(data.outcome.kind);
        break;
      case 'CronFired':
      case 'CronSlotPassed':
        if (slots.has(`${data.cronId} ${data.slot}`)) tell('I6 a slot fired twice');
        slots.add(`${data.cronId} ${data.slot}`);
        break;
    }
  }
  for (const [runId, { outcomes }] of runs)
    if (outcomes.length !== 1) problems.push(`I4 run ${runId} has ${outcomes.length} ends`);
  return { problems, runs, takeovers, requeued };
}

/** I2: what was acknowledged is there, and each request with a key has had its effect once. */
function checkNotes(found: ReadonlyMap<string, FoundRun>, { runs, threads }: Notes): string[] {
  const problems: string[] = [];
  const byTag = new Map<unknown, string[]>();
  for (const [runId, { tag }] of found) byTag.set(tag, [...(byTag.get(tag) ?? []), runId]);
  for (const [tag, noted] of runs) {
    const made = byTag.get(tag) ?? [];
    if (made.length !== 1 || (noted !== undefined && made[0] !== noted.runId))
      problems.push(`I2 ${tag} made runs ${made}, acknowledged was ${noted?.runId}`);
    const outcome = made.length === 1 ? found.get(made[0]!)!.outcomes[0] : undefined;
    if (outcome !== 'success' && !(noted?.isCancelled && outcome === 'cancelled'))
      problems.push(`run ${made} ended with ${outcome}`);
  }
  const withRuns = new Set([...found.values()].map(({ threadId }) => threadId));
  for (const run of runs.values())
    if (run !== undefined && !threads.has(run.threadId) && !withRuns.has(run.threadId))
      problems.push(`I2 thread ${run.threadId} is gone`);
  return problems;
}

/** I7: one delivery for an end, whose requests are all the same; without a crash it is taken once. */
function checkWebhooks(events: readonly EventRow[], { notes, taken, isGentle }: Round): string[] {
  const urls = events.flatMap(({ type, data }) =>
    type === 'WebhookOwed' ? [JSON.parse(data).url as string] : [],
  );
  const ids = new Map<string, Set<string>>();
  const problems: string[] = [];
  for (const { url, headers } of taken) {
    const id = String(headers['webhook-id']);
    if (ids.get(url)?.has(id) && isGentle) problems.push(`W2 webhook ${url} was sent twice`);
    ids.set(url, (ids.get(url) ?? new Set()).add(id));
  }
  for (const [tag, run] of notes.runs) {
    if (!run?.hasWebhook) continue;
    const owed = urls.filter((url) => url.endsWith(`/${tag}`)).length;
    const count = ids.get(`/${tag}`)?.size ?? 0;
    if (owed !== 1 || count !== 1)
      problems.push(`I7 the end of run ${run.runId} owes ${owed} webhooks, and ${count} came`);
  }
  return problems;
}

/** Rows that no fold makes. */
async function checkRows({ ask }: Cluster): Promise<string[]> {
  const rows = await ask<{ problem: string }>(
    `SELECT 'X5 the queue has a row for ' || thread_id AS problem FROM queue
     UNION ALL SELECT 'A4 a secret of ' || run_id FROM secrets
     UNION ALL SELECT 'S1 frames of run ' || run || ' are not dense' FROM frames GROUP BY run
       HAVING min(first) <> 0 OR max(last) + 1 <> sum(last - first + 1)
     UNION ALL SELECT 'X5 thread ' || thread_id || ' is busy' FROM threads WHERE status = 'busy'`,
  );
  return rows.map(({ problem }) => problem);
}

/** I5, I9: on every node the frames of the run are those that its client saw, with ids from 0 on without a gap. */
async function checkFrames({ threadId, runId, frames }: NotedRun, { nodes }: Cluster): Promise<string[]> {
  const problems: string[] = [];
  let first: string | undefined;
  for (const { server } of nodes) {
    const stored = await collect(
      await server!.open('GET', `/threads/${threadId}/runs/${runId}/stream`, undefined, {
        'last-event-id': '-1',
      }),
    );
    const text = JSON.stringify(stored.frames);
    if (stored.frames.some(({ id }, index) => id !== index))
      problems.push(`I5 frames of run ${runId}: ${text}`);
    if (text !== (first ??= text)) problems.push(`I9 two nodes differ about run ${runId}`);
    if (frames !== undefined && JSON.stringify(frames) !== text)
      problems.push(`I9 the client of run ${runId} saw ${JSON.stringify(frames)} instead of ${text}`);
  }
  return problems;
}
