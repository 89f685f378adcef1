/**
 * Compares what was promised, and what receivers got, with the log that a tortured server leaves behind. What must hold
 * of any log, such as dense frames and no lease or secret without its run, is found by `verify`.
 */
import { join } from 'node:path';
import type { Recorded } from '../../../src/store/port/events.ts';
import type { History } from '../../../src/store/port/past.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { openHistory } from '../../../src/store/sqlite/history.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createRowReader, type RowReader } from '../../support/row-reader.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { selectThreads } from '../../../src/store/sql/views/any-thread.ts';
import { verify } from '../../../src/past/verify/verify.ts';
import type { ReceivedRequest } from '../../support/webhook-sink.ts';
import type { Ledger } from './ledger.ts';

interface RunRow {
  readonly [column: string]: string | number | null;
  readonly run_id: string;
  readonly thread_id: string;
  readonly status: string;
}

/** Every broken promise, one line each. The server must have ended, with nothing left to do. */
export async function findBroken(
  data: string,
  ledger: Ledger,
  received: readonly ReceivedRequest[],
): Promise<string[]> {
  const history = openHistory(data, projection);
  const db = openConnection(join(data, LOG_FILE), { readonly: true });
  const read = createRowReader(createStatements(db));
  try {
    const { finding } = await verify(history);
    const events = await readEvents(history);
    const rows = new Map(read.all<RunRow>('SELECT * FROM runs', {}).map((row) => [row.run_id, row] as const));
    return [
      ...(finding === undefined ? [] : [`position ${finding.position}: ${finding.problem}`]),
      ...checkThreads(read, ledger),
      ...checkEnds(events, rows, ledger),
      ...checkOnce(events, ledger),
      ...(await checkFrames(history, rows, ledger)),
      ...(await checkMessages(history, read, rows, ledger)),
      ...checkWebhooks(read, events, rows, ledger, received),
    ];
  } finally {
    db.close();
    await history.close();
  }
}

async function readEvents(history: History): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (;;) {
    const page = await history.readAll(events.at(-1)?.meta.position ?? 0, 1_000);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function checkThreads(read: RowReader, { threads, deletions }: Ledger): string[] {
  const find = (threadId: string) =>
    read.get<{ metadata: string }>('SELECT metadata FROM threads WHERE thread_id = @threadId', {
      threadId,
    });
  const lost = [...threads].flatMap(([threadId, promised]) => {
    const row = find(threadId);
    if (row === undefined) return [`thread ${threadId} is gone`];
    const metadata = JSON.parse(row.metadata) as Record<string, unknown>;
    return Object.entries(promised)
      .filter(([key, value]) => metadata[key] !== value)
      .map(([key]) => `thread ${threadId} lost metadata ${key}`);
  });
  const undead = [...deletions].filter(([threadId, done]) => done && find(threadId) !== undefined);
  return [...lost, ...undead.map(([threadId]) => `thread ${threadId} was deleted and is there`)];
}

/** X3, X5, D1: one terminal fact for every run, and what was acknowledged is among them. */
function checkEnds(events: readonly Recorded[], rows: Map<string, RunRow>, { runs }: Ledger): string[] {
  const ends = new Map<string, { kind: string; count: number }>();
  for (const event of events) {
    if (event.type === 'RunCreated') ends.set(event.data.runId, { kind: 'none', count: 0 });
    if (event.type !== 'RunCompleted') continue;
    const end = ends.get(event.data.runId)!;
    ends.set(event.data.runId, { kind: event.data.outcome.kind, count: end.count + 1 });
  }
  const wrong = [...ends].filter(([, { count }]) => count !== 1);
  return [
    ...wrong.map(([runId, { count }]) => `run ${runId} ended ${count} times`),
    ...[...runs].flatMap(([runId, { rollback, answer }]) => {
      const end = ends.get(runId);
      const row = rows.get(runId);
      if (end === undefined) return [`run ${runId} was acknowledged and never created`];
      if (end.kind === 'rolled-back') return rollback ? [] : [`run ${runId} was rolled back by nobody`];
      if (row === undefined) return [`run ${runId} has no row`];
      if (answer === undefined) return [];
      const failed = '__error__' in answer;
      return failed === (row.status === 'error')
        ? []
        : [`run ${runId} answered ${JSON.stringify(answer).slice(0, 200)} and is recorded as ${row.status}`];
    }),
  ];
}

/** L4: one run for every key, however often its request was sent. A run that was rolled back has lost its tag. */
function checkOnce(events: readonly Recorded[], { once }: Ledger): string[] {
  const made = new Map<unknown, Set<string>>([...once.keys()].map((tag) => [tag, new Set()]));
  const created = new Set<string>();
  for (const { type, data } of events) {
    if (type !== 'RunCreated') continue;
    created.add(data.runId);
    made.get(data.metadata['tag'])?.add(data.runId);
  }
  return [...once].flatMap(([tag, heard]) => {
    const found = made.get(tag)!;
    if (heard !== undefined && created.has(heard)) found.add(heard);
    return found.size === 1 || (found.size === 0 && heard === undefined)
      ? []
      : [`${tag} was asked for once and made ${found.size} runs`];
  });
}

/** S1, S2 */
async function checkFrames(
  history: History,
  rows: Map<string, RunRow>,
  { streams }: Ledger,
): Promise<string[]> {
  const problems: string[] = [];
  for (const runId of rows.keys()) {
    const stored = await history.payloads.frames(runId, -1, 1_000_000);
    const attempts = stored
      .filter(({ event }) => event === 'metadata')
      .map(({ data }) => (JSON.parse(data) as { attempt: number }).attempt);
    if (attempts.some((attempt, index) => attempt !== index + 1))
      problems.push(`run ${runId}: its metadata frames tell of attempts ${attempts}`);
    const watched = streams.get(runId);
    if (watched === undefined) continue;
    const seen = watched.complete ? stored : stored.slice(0, watched.frames.length);
    if (JSON.stringify(plain(seen)) !== JSON.stringify(plain(watched.frames)))
      problems.push(`run ${runId}: a client saw ${watched.frames.length} frames that differ from the stored`);
  }
  return problems;
}

const plain = (frames: readonly { id: number; event: string; data: string }[]) =>
  frames.map(({ id, event, data }) => [id, event, data]);

/** X2, X5: whatever was executed again, its message is in the state once. */
async function checkMessages(
  history: History,
  read: RowReader,
  rows: Map<string, RunRow>,
  { runs }: Ledger,
): Promise<string[]> {
  const problems: string[] = [];
  const heads = read.all<{ thread_id: string; head: string }>(
    selectThreads('head IS NOT NULL', 'thread_id, head'),
    {},
  );
  const texts = new Map<string, string[]>();
  for (const { thread_id, head } of heads) {
    const values = (await history.payloads.values(thread_id, head))?.parse() as {
      messages?: { content: Json }[];
    };
    texts.set(thread_id, values.messages?.map(({ content }) => String(content)) ?? []);
  }
  for (const [runId, { threadId, tag, graph }] of runs) {
    const count = (text: string): number =>
      texts.get(threadId)?.filter((other) => other === text).length ?? 0;
    const [asked, answered] = [count(tag), count(`echo: ${tag}`)];
    const isMissing = graph === 'echo' && rows.get(runId)?.status === 'success' && answered === 0;
    if (asked > 1 || answered > 1 || isMissing)
      problems.push(`run ${runId}: its messages are in the state ${asked} and ${answered} times`);
  }
  return problems;
}

/**
 * W1, W2: every run that ended with a webhook got its own, always the same, and nobody else got any. The ledger says
 * which run asked for which; the log only of runs that were never acknowledged, none of which is rolled back.
 */
function checkWebhooks(
  read: RowReader,
  events: readonly Recorded[],
  rows: Map<string, RunRow>,
  { webhooks }: Ledger,
  received: readonly ReceivedRequest[],
): string[] {
  const wanted = new Map([...webhooks].filter((asked): asked is [string, string] => asked[1] !== undefined));
  const problems: string[] = [];
  for (const { type, data } of events) {
    if (type !== 'RunCreated' || data.kwargs.webhook === undefined) continue;
    const path = new URL(data.kwargs.webhook).pathname;
    const runId = wanted.get(path) ?? data.runId;
    if (!webhooks.has(path) || runId !== data.runId)
      problems.push(`run ${data.runId} was created with a webhook ${path} that it did not ask for`);
    wanted.set(path, runId);
  }
  const got = new Map<string, Set<string>>();
  for (const { url, headers, body } of received) {
    const text = body.toString();
    got.set(url, (got.get(url) ?? new Set()).add(`${headers['webhook-id']} ${text}`));
    if (wanted.get(url) !== (JSON.parse(text) as { run_id: string }).run_id)
      problems.push(`webhook ${url} is of a run that did not ask for it`);
  }
  for (const [url, runId] of wanted) {
    const variants = got.get(url)?.size ?? 0;
    if (variants !== 1) problems.push(`webhook ${url} of run ${runId} came in ${variants} variants`);
  }
  // The delivery of a run that was rolled back is forgotten once it is over.
  const kept = [...wanted.values()].filter((runId) => rows.has(runId)).length;
  const owed = read.get<{ n: number }>('SELECT count(*) AS n FROM deliveries', {})?.n;
  if (owed !== kept) problems.push(`${owed} deliveries for ${kept} runs with a webhook`);
  return problems;
}
