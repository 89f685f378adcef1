/** Finds the run that the path of a request names. */
import type { EventName } from '../../auth/auth.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { RunRef } from '../../thread/events.ts';
import { authorise } from '../access.ts';
import type { EndpointRequest } from '../endpoint.ts';
import { noRun } from '../replies.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

export interface RunRequest extends Pick<
  EndpointRequest<string, unknown, unknown>,
  'context' | 'actor' | 'c'
> {
  readonly params: { readonly run_id: string; readonly thread_id?: string };
}

/** The run, if the handler's filter for `event` allows it. Throws a 404, also for a run of another thread. */
export async function findRun(
  { context, actor, params: { run_id: runId, thread_id: threadId } }: RunRequest,
  event: EventName,
  more: JsonObject = {},
): Promise<RunRecord> {
  const { filter } = await authorise(context, actor, event, {
    ...(threadId !== undefined && { thread_id: threadId }),
    ...more,
  });
  const run = await context.log.views.runs.get(runId, { threadId, filter });
  if (run === undefined) throw noRun();
  return run;
}

/** `Content-Location` names the run; `Location` is stateless or on the thread, like the path of the request. */
export const locationHeaders = (
  { params }: RunRequest,
  { threadId, runId }: RunRef,
  rest: 'join' | 'stream',
): Record<string, string> => ({
  'content-location': `/threads/${threadId}/runs/${runId}`,
  location: `${params.thread_id === undefined ? '' : `/threads/${threadId}`}/runs/${runId}/${rest}`,
});
