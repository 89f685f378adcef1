/** Endpoints that cancel and delete existing runs. */
import { z } from 'zod';
import { stopReason } from '../../thread/run-end.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, problems, RUN_HEADERS } from '../openapi/descriptions.ts';
import { accepted, jsonReply, noContent, noRun, refused, stateBusy, stopping } from '../replies.ts';
import { findRun, locationHeaders } from './find-run.ts';
import { cancelQuery } from './schemas.ts';

export const runEndEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs/{run_id}/cancel',
    tag: 'runs',
    summary: 'Cancel a run',
    query: cancelQuery,
    replies: {
      202: nothing('The run is being cancelled'),
      200: json(z.object({}), 'The run has ended, with `wait`', RUN_HEADERS),
      ...problems(404),
    },
    async handle(request) {
      const { context, params, query } = request;
      const { action } = query;
      const run = await findRun(request, 'threads:update', {
        action,
        metadata: { run_ids: [params.run_id], status: 'pending' },
      });
      const done = await context.threads.dispatch(
        run.threadId,
        [
          {
            ...{ type: 'RequestCancel', runId: run.runId, action, reason: stopReason.cancel(action) },
            ...(query.reason !== undefined && { cancelReason: stopReason.taken }),
            ...(query.keep !== undefined && { keep: query.keep }),
          },
        ],
        { by: request.actor.user?.identity },
      );
      // A run that has ended meanwhile is no error.
      if (!done.ok && done.refusal.code !== 'run-not-open') throw refused(done.refusal, run.threadId);
      if (!query.wait) return accepted();
      const ended = await context.streams.ended(run, context.stopping);
      if (ended === undefined && context.stopping.aborted) throw stopping();
      return jsonReply({}, 200, locationHeaders(request, run, 'join'));
    },
  }),
  endpoint({
    method: 'delete',
    path: '/threads/{thread_id}/runs/{run_id}',
    tag: 'runs',
    summary: 'Delete a run and its checkpoints for good',
    replies: { 204: nothing('Deleted'), ...problems(404, 409) },
    async handle(request) {
      const { thread_id: threadId, run_id: runId } = request.params;
      await findRun(request, 'threads:delete', { run_id: runId });
      const done = await request.context.maintenance.deleteRun(threadId, runId, request.actor.user?.identity);
      if (!done.ok) throw done.refusal.code === 'thread-busy' ? stateBusy() : noRun();
      return noContent();
    },
  }),
];
