/** The endpoint that lists the runs of all threads. A2 The filter of `threads:search` is part of the query. */
import { z } from 'zod';
import { dueTime, toTimestamp } from '../../kernel/clock.ts';
import type { Json } from '../../kernel/json.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import { threadStream } from '../../thread/events.ts';
import { authorise, grantedSearch } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { filter as filterOf, limit, list, oneOf, optional, selectOf, uuid } from '../fields.ts';
import { listReply } from '../list-reply.ts';
import { json } from '../openapi/descriptions.ts';
import { time } from '../reply-fields.ts';
import { pick } from '../select.ts';
import { run, toRun } from './shapes.ts';

const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;

const listedRun = run
  .extend({
    graph_id: z.string(),
    title: z.string().nullable().meta({ description: 'Of the thread.' }),
    attempt: z.int().meta({ description: '0 before the first start.' }),
    started_at: time.nullable().meta({ description: 'Start of the last attempt.' }),
    ended_at: time.nullable(),
    queued_ms: z.int().meta({ description: 'Time from its creation to its first start, or to now.' }),
    worker: z.int().nullable().meta({ description: 'Process id of the graph worker that executes it.' }),
  })
  .meta({ id: 'ListedRun' });

const runsQuery = z.object({
  status: optional(list(oneOf(STATUSES), STATUSES.length, 'expected a list of statuses')),
  limit: limit(20),
  after: optional(uuid).meta({ description: 'A run: only older ones, the newest first.' }),
  before: optional(uuid).meta({ description: 'A run: only newer ones, those next to it.' }),
  select: optional(selectOf(Object.keys(listedRun.shape) as [string, ...string[]])),
});

const granted = z.object({ metadata: optional(filterOf('part')) });

export const runsEverywhereEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs',
    tag: 'runs',
    summary: 'List the runs of all threads',
    description:
      'Newest first, of the threads that the caller may search. A stateless run is listed while it is open.',
    query: runsQuery,
    replies: { 200: json(z.array(listedRun), 'A page of runs') },
    async handle({ context, actor, query }) {
      const { runs } = context.log.views;
      const asked = await authorise(context, actor, 'threads:search', {
        ...{ metadata: {}, values: {}, status: null, limit: query.limit, offset: 0 },
      });
      const { metadata } = grantedSearch(granted, asked);
      const found = await runs.everywhere(
        {
          limit: query.limit,
          ...(query.status !== undefined && { statuses: query.status }),
          ...(query.after !== undefined && { older: query.after }),
          ...(query.before !== undefined && { newer: query.before }),
          ...(metadata !== undefined && { threadMetadata: metadata }),
        },
        asked.filter,
      );
      const workers = new Map(
        context.operation.workers().flatMap(({ pid, runIds }) => runIds.map((runId) => [runId, pid])),
      );
      return listReply(found, async ({ runId, threadId }) => {
        const record = await runs.get(runId, { threadId, filter: asked.filter });
        return record && pick(await toListed(context, record, workers.get(runId)), query.select);
      });
    },
  }),
];

async function toListed(
  context: ServerContext,
  record: RunRecord,
  worker: number | undefined,
): Promise<Record<string, Json>> {
  const timeOf = (at: number | null): string | null => (at === null ? null : toTimestamp(at));
  const { graphId, threadId, attempt, startedAt, endedAt, createdAt } = record;
  const thread = await context.log.views.threads.get(threadId);
  return {
    ...toRun(record),
    ...{ graph_id: graphId, title: thread?.title ?? null, attempt },
    ...{ started_at: timeOf(startedAt), ended_at: timeOf(endedAt) },
    queued_ms: Math.max(0, (await firstStart(context, record)) - createdAt),
    worker: record.status === 'running' ? (worker ?? null) : null,
  };
}

/** The time until which the run waited for its first attempt. */
async function firstStart(
  { log, clock }: ServerContext,
  { ordinal, attempt, threadId, startedAt, endedAt }: RunRecord,
): Promise<number> {
  if (attempt <= 1) return startedAt ?? endedAt ?? dueTime(clock);
  const [event] = ordinal === null ? [] : await log.readStream(threadStream(threadId), ordinal, 1);
  return event?.meta.at ?? startedAt ?? dueTime(clock);
}
