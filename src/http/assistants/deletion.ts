/**
 * Deletes an assistant with its versions, its runs and, if the request says so, its threads.
 *
 * A2 Only runs and threads that the caller may delete are deleted; the others stay. The assistant is deleted last, so
 * that the request can be repeated after a failure in the middle.
 */
import type { Actor } from '../../auth/authenticate.ts';
import { authorise } from '../access.ts';
import { refusedChange } from './access.ts';
import type { ServerContext } from '../context.ts';
import { assistantBusy } from '../replies.ts';
import type { AssistantRun } from '../../store/port/views/runs.ts';

const PAGE_SIZE = 1000;

/** Throws a 409, and deletes nothing, while a thread that stays and has runs of the assistant has an open run. */
export async function deleteAssistant(
  context: ServerContext,
  actor: Actor,
  assistantId: string,
  withThreads: boolean,
): Promise<void> {
  const { log, threads, maintenance } = context;
  const by = actor.user?.identity;
  const threadIds = new Set(withThreads ? await threadsToDelete(context, actor, assistantId) : []);
  const runs: AssistantRun[] = [];
  for (const run of await log.views.runs.ofAssistant(assistantId)) {
    if (threadIds.has(run.threadId) || !(await isInReach(context, actor, run))) continue;
    if (run.busy) throw assistantBusy();
    runs.push(run);
  }
  for (const threadId of threadIds) await threads.dispatch(threadId, [{ type: 'DeleteThread' }], { by });
  for (const { threadId, runId, temporary } of runs) {
    // A stateless run is deleted with its temporary thread; other threads keep their state and lose only the run.
    if (temporary) await threads.dispatch(threadId, [{ type: 'DeleteThread' }], { by });
    else if (!(await maintenance.deleteRunRecord(threadId, runId, by)).ok) throw assistantBusy();
  }
  const done = await context.assistants.dispatch(assistantId, { type: 'DeleteAssistant' }, { by });
  if (!done.ok) throw refusedChange(done.refusal);
}

/** Ids of the assistant's threads that the caller may delete. Throws the handler's denial. */
async function threadsToDelete(context: ServerContext, actor: Actor, assistantId: string): Promise<string[]> {
  const found: string[] = [];
  const search = { metadata: { assistant_id: assistantId }, sortBy: 'thread_id', sortOrder: 'asc' } as const;
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const { threads } = await context.log.views.threads.search({ ...search, limit: PAGE_SIZE, offset });
    for (const { threadId } of threads) {
      const { filter } = await authorise(context, actor, 'threads:delete', { thread_id: threadId });
      if ((await context.log.views.threads.get(threadId, filter)) !== undefined) found.push(threadId);
    }
    if (threads.length < PAGE_SIZE) return found;
  }
}

async function isInReach(
  { log, authorize }: ServerContext,
  actor: Actor,
  { runId, threadId }: AssistantRun,
): Promise<boolean> {
  const decision = await authorize(actor, 'threads:delete', { thread_id: threadId, run_id: runId });
  return decision.ok && (await log.views.runs.get(runId, { filter: decision.filter })) !== undefined;
}
