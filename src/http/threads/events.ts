/** The endpoint that lists the events of a thread. */
import { z } from 'zod';
import { openStepNodes } from '../../past/step-nodes.ts';
import type { Recorded } from '../../store/port/events.ts';
import { threadStream, type ThreadEvent } from '../../thread/events.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { limit, optional } from '../fields.ts';
import { renderList } from '../list-reply.ts';
import { json, problems } from '../openapi/descriptions.ts';
import { jsonReply } from '../replies.ts';
import { threadEvent, toThreadEvent } from './event-shapes.ts';
import { findReadable } from './readable-thread.ts';
import { version } from './state-schemas.ts';

const AFTER = 'expected a version of the thread, an integer from 0 on';

const eventsQuery = z.object({
  after: optional(z.int(AFTER).min(0, AFTER)).meta({
    description: 'Only events with a greater version, the oldest first.',
  }),
  before: optional(version).meta({
    description:
      'Only events with a smaller version: the last `limit` of these unless `after` is given. Any number above the last ' +
      'version gives the last page.',
  }),
  limit: limit(100),
});

export const threadEventEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/events',
    tag: 'threads',
    summary: 'List the events of a thread',
    description:
      'What happened to the thread, one event a version, always in order of version. A page reads on from `after`, or ends ' +
      'in front of `before`. Content that was deleted is gone from its events, which say `erased`.',
    query: eventsQuery,
    replies: {
      200: json(
        z.object({
          events: z.array(threadEvent),
          last: z.int().meta({ description: 'The last version of the thread.' }),
        }),
        'A page of events',
      ),
      ...problems(404),
    },
    async handle({ context: { log, ...context }, actor, params: { thread_id: threadId }, query }) {
      const { ifStillReadable } = await findReadable({ log, ...context }, actor, threadId);
      const stream = threadStream(threadId);
      const read = async () => {
        const last = await log.streamVersion(stream);
        const end = Math.min(query.before ?? Infinity, last + 1);
        const first =
          query.after === undefined && query.before !== undefined
            ? end - query.limit
            : (query.after ?? 0) + 1;
        const from = Math.max(1, first);
        const count = Math.min(query.limit, end - from);
        const events =
          count > 0 ? ((await log.readStream(stream, from, count)) as Recorded<ThreadEvent>[]) : [];
        const nodes = openStepNodes(
          log.payloads,
          threadId,
          async (runId) => (await log.views.runs.get(runId, { threadId }))?.graphId,
        );
        return { events: await renderList(events, (event) => toThreadEvent(event, nodes)), last };
      };
      return jsonReply(await ifStillReadable(read()));
    },
  }),
];
