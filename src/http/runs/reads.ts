/** Routes that read, join and cancel existing runs. */
import { Hono, type Context } from 'hono';
import type { EventName } from '../../auth/auth.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { getRun, listRuns, type RunRecord } from '../../projections/run-queries.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { stopReason } from '../../thread/run-end.ts';
import { cancelAbandoned } from './abandon.ts';
import { authorise, grantedSearch } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { listReply } from '../list-reply.ts';
import { readQuery } from '../query.ts';
import { accepted, HttpProblem, jsonReply, noRun, noThread, refused, stopping } from '../replies.ts';
import { check, pathUuid } from '../check.ts';
import { pick } from '../select.ts';
import { cancelQuery, joinQuery, runConditions, runList } from './schemas.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { joinStreamOptions, readingOf } from './reading.ts';
import { runReply } from './reply.ts';
import { singleFrame, textReply, waitReply } from '../sse.ts';
import { toRun } from '../serializers.ts';

export function runReadRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, streams, threads } = context;

  /** The run of the path, if the handler's filter for `event` allows it. Throws a 404, also for another thread's run. */
  async function find(
    c: Context<Env>,
    event: EventName = 'threads:read',
    more: JsonObject = {},
  ): Promise<RunRecord> {
    const runId = pathUuid(c.req.param('run_id'), 'run_id');
    const given = c.req.param('thread_id');
    const threadId = given === undefined ? undefined : pathUuid(given, 'thread_id');
    const { filter } = await authorise(context, c.var.actor, event, {
      ...(threadId !== undefined && { thread_id: threadId }),
      ...more,
    });
    const run = await getRun(log.rows, runId, { threadId, filter });
    if (run === undefined) throw noRun();
    return run;
  }

  /** `rest` is the last path segment of the `Location` header, where a client resumes a broken reply. */
  function holdReply(
    c: Context<Env>,
    run: RunRecord,
    cancelOnDisconnect: boolean,
    rest: 'join' | 'stream',
  ): StreamingReply {
    return {
      clock: context.clock,
      over: new AbortController(),
      stopping: context.stopping,
      expiresAt: c.var.actor.expiresAt,
      outgoing: c.env.outgoing,
      headers: locationHeaders(c, run, rest),
      // A HEAD request disconnects at once and must not cancel the run.
      ...(cancelOnDisconnect && c.req.method !== 'HEAD' && { onLeave: () => cancelAbandoned(context, run) }),
    };
  }

  app.get('/threads/:thread_id/runs', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const query = check(
      runList,
      readQuery(c.req.url, {
        limit: 'number',
        offset: 'number',
        status: 'text',
        metadata: 'json',
        select: 'list',
      }),
    );
    const read = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    if ((await getThread(log.rows, threadId, read.filter)) === undefined) throw noThread(threadId);
    const granted = await authorise(context, c.var.actor, 'threads:search', {
      thread_id: threadId,
      metadata: query.metadata ?? {},
      ...(query.status !== undefined && { status: query.status }),
    });
    const { filter } = granted;
    if ((await getThread(log.rows, threadId, filter)) === undefined) throw noThread(threadId);
    const { metadata, status } = grantedSearch(runConditions, granted);
    const ids = await listRuns(
      log.rows,
      {
        threadId,
        limit: query.limit,
        offset: query.offset,
        ...(status !== undefined && { status }),
        ...(metadata !== undefined && { metadata }),
      },
      filter,
    );
    return listReply(ids, async (runId) => {
      const run = await getRun(log.rows, runId, { threadId, filter });
      return run && pick(toRun(run), query.select);
    });
  });

  app.get('/threads/:thread_id/runs/:run_id', async (c) => c.json(toRun(await find(c))));

  const join = async (c: Context<Env>): Promise<Response> => {
    const options = check(
      joinQuery,
      readQuery(c.req.url, { cancel_on_disconnect: 'boolean', stream_mode: 'list' }),
    );
    const run = await find(c);
    const reply = holdReply(c, run, options.cancel_on_disconnect === true, 'join');
    return waitReply(async () => streams.result(await streams.ended(run.runId, reply.over.signal)), reply);
  };
  app.get('/threads/:thread_id/runs/:run_id/join', join);
  app.get('/runs/:run_id/join', join);

  const joinStream = async (c: Context<Env>): Promise<Response> => {
    const options = joinStreamOptions(c.req.url);
    let run: RunRecord;
    try {
      run = await find(c);
    } catch (error) {
      // Existing clients expect a stream, not a 404, for a missing run.
      if (!(error instanceof HttpProblem) || error.status !== noRun().status) throw error;
      const missing = { error: 'Error', message: `${error.status}: ${error.message}` };
      const { clock, stopping } = context;
      const over = new AbortController();
      const { outgoing } = c.env;
      const { expiresAt } = c.var.actor;
      return textReply(singleFrame('error', missing), {
        ...{ clock, over, stopping, expiresAt, outgoing },
        headers: {},
      });
    }
    const reading = await readingOf(context, run, options, c.req.header('last-event-id'));
    return runReply(
      context,
      run,
      reading,
      holdReply(c, run, options.cancel_on_disconnect === true, 'stream'),
    );
  };
  app.get('/threads/:thread_id/runs/:run_id/stream', joinStream);
  app.get('/runs/:run_id/stream', joinStream);

  app.post('/threads/:thread_id/runs/:run_id/cancel', async (c) => {
    const query = check(
      cancelQuery,
      readQuery(c.req.url, { wait: 'boolean', action: 'text', reason: 'text' }),
    );
    const action = query.action ?? 'interrupt';
    const run = await find(c, 'threads:update', {
      action,
      metadata: { run_ids: [c.req.param('run_id')], status: 'pending' },
    });
    const done = await threads.dispatch(run.threadId, [
      {
        ...{ type: 'RequestCancel', runId: run.runId, action, reason: stopReason.cancel(action) },
        ...(query.reason !== undefined && { cancelReason: stopReason.taken }),
      },
    ]);
    // A run that has ended meanwhile is no error.
    if (!done.ok && done.refusal.code !== 'run-not-open') throw refused(done.refusal, run.threadId);
    if (query.wait !== true) return accepted();
    const ended = await streams.ended(run.runId, context.stopping);
    if (ended === undefined && context.stopping.aborted) throw stopping();
    return jsonReply({}, 200, locationHeaders(c, run, 'join'));
  });

  return app;
}

/** Reply headers: `Content-Location` names the run, `Location` is stateless or on the thread as the requested path. */
function locationHeaders(c: Context<Env>, { threadId, runId }: RunRecord, rest: 'join' | 'stream') {
  const base = c.req.param('thread_id') === undefined ? '' : `/threads/${threadId}`;
  return {
    'content-location': `/threads/${threadId}/runs/${runId}`,
    location: `${base}/runs/${runId}/${rest}`,
  };
}
