/**
 * Creates the run of a cron's slot through the code path of client requests, as the user who created the cron.
 *
 * A1, A2 Every run asks the auth handler again and applies its filters. A4 The secrets that the cron keeps of its creator
 * go into the run's secret row and nowhere else.
 */
import type { CronOrder, CronStarted, StartCronRun } from '../../actors/crons.ts';
import type { Actor } from '../../auth/authenticate.ts';
import { parseUser } from '../../auth/user.ts';
import type { CronContent } from '../../cron/events.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { parseSecret } from '../../thread/secret.ts';
import { check } from '../check.ts';
import type { ServerContext } from '../context.ts';
import { orderOf } from './content.ts';
import { HttpProblem, ConcurrencyConflict } from '../replies.ts';
import { createRun } from '../runs/creation.ts';
import { runCreate } from '../runs/schemas.ts';

export function createCronStart(context: ServerContext): StartCronRun {
  const { views, payloads } = context.log;

  async function makerOf(cronId: string): Promise<Actor> {
    const { user: kept, inherited } = parseSecret(await payloads.cronSecret(cronId));
    const user = kept && parseUser(kept);
    return { ...(user && { user }), scopes: user?.permissions ?? [], ...(inherited && { inherited }) };
  }

  /** Deleting an assistant or a thread deletes its crons, but a cron created concurrently may survive. */
  async function isGone({ cron: { content } }: CronOrder): Promise<boolean> {
    const { assistantId, threadId } = content;
    if ((await views.assistants.get(assistantId)) === undefined) return true;
    return threadId !== null && (await views.threads.get(threadId)) === undefined;
  }

  return async (order): Promise<CronStarted> => {
    if (await isGone(order)) return { kind: 'gone' };
    const { cronId, content } = order.cron;
    const body: JsonObject = {
      ...orderOf(content.payload),
      assistant_id: content.assistantId,
      metadata: content.metadata,
      ...(content.onRunCompleted === 'keep' && { on_completion: 'keep' }),
    };
    try {
      const request = check(runCreate, body);
      await createRun(context, await makerOf(cronId), request, content.threadId ?? undefined, {
        slot: order,
      });
      return { kind: 'started' };
    } catch (error) {
      if (error instanceof ConcurrencyConflict) return { kind: 'conflict' };
      if (!(error instanceof HttpProblem) || error.status >= 500) throw error;
      return { kind: 'refused', reason: `${error.status}: ${error.message}${await hintOn(error, content)}` };
    }
  };

  /** Assistant and thread exist, so a 404 for them means that the cron's creator may no longer read them. */
  async function hintOn({ status }: HttpProblem, { assistantId }: CronContent): Promise<string> {
    const graphId = (await views.assistants.get(assistantId))?.graphId;
    const isServed = graphId !== undefined && context.graphs.graphIds.includes(graphId);
    return status === 404 && isServed
      ? ' (it exists, but the creator of the cron may not use it any more)'
      : '';
  }
}
