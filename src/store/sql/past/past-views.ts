/** Named questions that replay asks of a log. */
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { threadStream } from '../../../thread/events.ts';
import type { ListedRow, PastViews } from '../../port/past.ts';
import type { Stored } from '../coder.ts';
import { headPosition } from '../event-store.ts';
import { readPlacedWrites, readTasks, readWriters } from '../payloads/write-reads.ts';
import { selectThreads } from '../views/any-thread.ts';
import { rows, type Run, type StepParams, type Work, type WorkContext } from '../work.ts';

export const createPastViews = (context: WorkContext, run: Run): PastViews => ({
  lastPosition: () => run(headPosition()),
  threads: () => run(listThreads(context)),
  threadIds: (prefix, limit) =>
    run(
      readIds(
        `SELECT DISTINCT substr(stream, 8) AS id FROM events WHERE stream >= @from AND stream < @to LIMIT @limit`,
        { from: threadStream(prefix), to: `${threadStream(prefix)}g`, limit },
      ),
    ),
  runIds: (prefix, limit) =>
    run(
      readIds(
        'SELECT run_id AS id FROM runs WHERE run_id >= @from AND run_id < @to ORDER BY run_id LIMIT @limit',
        { from: prefix, to: `${prefix}g`, limit },
      ),
    ),
  heads: (after, limit) => run(listHeads(after, limit)),
  savedAt: (head) => run(findSaving(context, head)),
  deliveryIds: (threadId) =>
    run(readIds('SELECT delivery_id AS id FROM deliveries WHERE thread_id = ?', [threadId])),
  cronIds: (threadId) => run(findCrons(threadId)),
  tasks: (threadId) => run(readTasks(context, threadId)),
  writers: (threadId) => run(readWriters(threadId)),
  writes: (threadId, of) => run(readPlacedWrites(context, threadId, of)),
});

function* readIds(sql: string, params: StepParams): Work<string[]> {
  const found: { id: string }[] = yield rows(sql, params);
  return found.map(({ id }) => id);
}

const parse = (metadata: string, of: string): JsonObject =>
  fromStored(metadata, 'metadata of', of) as JsonObject;

interface ThreadRow extends Omit<ListedRow, 'graph_id' | 'error' | 'is_side'> {
  readonly error: Stored | null;
  readonly metadata: string;
  readonly bound_graph_id: string | null;
  readonly run_graph_id: string | null;
  readonly temporary: number;
  readonly own_runs: number;
  readonly crons: number;
}

const CRON = '"cron_id":';

function* listThreads({ coder }: WorkContext): Work<ListedRow[]> {
  const ofThread = 'FROM runs WHERE runs.thread_id = threads.thread_id';
  const found: ThreadRow[] = yield rows(
    `SELECT thread_id, status, created_at, updated_at, error, metadata, bound_graph_id, temporary,
       (SELECT graph_id ${ofThread} ORDER BY created_at, created LIMIT 1) AS run_graph_id,
       (SELECT count(*) ${ofThread}) AS runs,
       (SELECT count(*) FROM events WHERE stream = 'thread-' || threads.thread_id) AS events,
       (SELECT count(*) ${ofThread} AND replace(runs.metadata, @cron, '') = runs.metadata) AS own_runs,
       (SELECT count(*) FROM crons WHERE crons.thread_id = threads.thread_id) AS crons
     FROM (${selectThreads('1 = 1')}) AS threads ORDER BY updated_at DESC, thread_id DESC`,
    { cron: CRON },
  );
  const listed: ListedRow[] = [];
  for (const { error, metadata, bound_graph_id, run_graph_id, temporary, own_runs, crons, ...row } of found) {
    const { graph_id } = parse(metadata, row.thread_id);
    const mayBeSide = row.runs > 0 && own_runs === 0 && crons === 0;
    const isSide = temporary !== 0 || (mayBeSide && (yield* areRunsOfCrons(row.thread_id)));
    listed.push({
      ...row,
      graph_id: typeof graph_id === 'string' ? graph_id : (bound_graph_id ?? run_graph_id),
      error: coder.open(error),
      is_side: Number(isSide),
    });
  }
  return listed;
}

function* areRunsOfCrons(threadId: string): Work<boolean> {
  return (yield* cronsOfRuns(threadId)).every((id) => typeof id === 'string');
}

function* cronsOfRuns(threadId: string): Work<unknown[]> {
  const found: { run_id: string; metadata: string }[] = yield rows(
    'SELECT run_id, metadata FROM runs WHERE thread_id = ?',
    [threadId],
  );
  return found.map(({ run_id, metadata }) => parse(metadata, run_id)['cron_id']);
}

function* findCrons(threadId: string): Work<string[]> {
  const own = yield* readIds('SELECT cron_id AS id FROM crons WHERE thread_id = ?', [threadId]);
  const ofRuns = (yield* cronsOfRuns(threadId)).filter((id) => typeof id === 'string');
  return [...new Set([...own, ...ofRuns])].sort();
}

function* listHeads(after: string, limit: number): Work<{ threadId: string; head: string }[]> {
  return yield rows(
    `${selectThreads('t.head IS NOT NULL AND t.thread_id > @after', 't.thread_id AS "threadId", t.head AS head')}
     ORDER BY 1 LIMIT @limit`,
    { after, limit },
  );
}

function* findSaving(
  { coder }: WorkContext,
  { threadId, head }: { readonly threadId: string; readonly head: string },
): Work<number | undefined> {
  const found: { position: number; data: Stored }[] = yield rows(
    `SELECT position, data FROM events WHERE stream = ? AND type = 'CheckpointSaved' ORDER BY version DESC`,
    [threadStream(threadId)],
  );
  const saves = ({ position, data }: (typeof found)[number]): boolean =>
    (fromStored(coder.open(data), 'event at', position) as JsonObject)['checkpointId'] === head;
  return found.find(saves)?.position;
}
