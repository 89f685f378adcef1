/**
 * An assistant goes with what is its own: versions, the runs that it made, and its threads if that is asked for.
 *
 * A2 Runs and threads go only as far as the caller may delete them; what is beyond that stays as it is. The assistant
 * goes last, so a deletion that breaks off in the middle can be asked for again.
 */
import type { Actor } from '../auth/authenticate.ts';
import { runsOfAssistant, type AssistantRun } from '../projections/assistant-queries.ts';
import { getRun } from '../projections/run-queries.ts';
import { getThread, searchThreads } from '../projections/thread-queries.ts';
import { authorise } from './access.ts';
import { refusedChange } from './assistant-access.ts';
import type { ServerContext } from './context.ts';
import { assistantBusy } from './replies.ts';

const PAGE = 1000;

/** Throws a 409 while a run is open on a thread that stays and has runs of the assistant; nothing is deleted then. */
export async function deleteAssistant(
  context: ServerContext,
  actor: Actor,
  assistantId: string,
  withThreads: boolean,
): Promise<void> {
  const { log, threads, maintenance } = context;
  const doomed = new Set(withThreads ? await threadsToDelete(context, actor, assistantId) : []);
  const runs: AssistantRun[] = [];
  for (const run of await runsOfAssistant(log.rows, assistantId)) {
    if (doomed.has(run.threadId) || !(await isInReach(context, actor, run))) continue;
    if (run.busy) throw assistantBusy();
    runs.push(run);
  }
  for (const threadId of doomed) await threads.dispatch(threadId, [{ type: 'DeleteThread' }]);
  for (const { threadId, runId, temporary } of runs) {
    // The thread of a stateless run is that run; others keep what was said in them.
    if (temporary) await threads.dispatch(threadId, [{ type: 'DeleteThread' }]);
    else if (!(await maintenance.deleteRunRecord(threadId, runId)).ok) throw assistantBusy();
  }
  const done = await context.assistants.dispatch(assistantId, { type: 'DeleteAssistant' });
  if (!done.ok) throw refusedChange(done.refusal);
}

/** Throws a handler's denial before anything is deleted. */
async function threadsToDelete(context: ServerContext, actor: Actor, assistantId: string): Promise<string[]> {
  const { rows } = context.log;
  const found: string[] = [];
  const search = { metadata: { assistant_id: assistantId }, sortBy: 'thread_id', sortOrder: 'asc' } as const;
  for (let offset = 0; ; offset += PAGE) {
    const { threads } = await searchThreads(context.log, { ...search, limit: PAGE, offset });
    for (const { threadId } of threads) {
      const { filter } = await authorise(context, actor, 'threads:delete', { thread_id: threadId });
      if ((await getThread(rows, threadId, filter)) !== undefined) found.push(threadId);
    }
    if (threads.length < PAGE) return found;
  }
}

async function isInReach(
  { log, authorize }: ServerContext,
  actor: Actor,
  { runId, threadId }: AssistantRun,
): Promise<boolean> {
  const decision = await authorize(actor, 'threads:delete', { thread_id: threadId, run_id: runId });
  return decision.ok && (await getRun(log.rows, runId, { filter: decision.filter })) !== undefined;
}
