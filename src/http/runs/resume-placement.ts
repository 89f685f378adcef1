/**
 * Placement of runs that answer an interrupt (`command.resume`): each interrupt is answered once, also when several
 * requests answer it concurrently.
 *
 * X1 The placement is a condition of the run's commit: an answer to a state that the thread has left is refused. The
 * strategies `interrupt` and `rollback` may replace an earlier answer. A strict answer that has no placement becomes a
 * run that ends with the refusal at its start.
 */
import { INTERRUPT, isNote } from '../../graphs/state-port.ts';
import { interruptKeys } from '../../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { EventLog } from '../../store/port/log.ts';
import type { RunKwargs } from '../../thread/events.ts';
import { activeOf, isLiving, openRunIds, type Placement } from '../../thread/state.ts';
import type { ServerContext } from '../context.ts';
import type { RunCreate } from './schemas.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

/** The answer of a run; `checkpointId` is undefined when it resumes from the thread's head. */
export interface Answer {
  readonly resume: Json | undefined;
  readonly checkpointId: string | undefined;
}

/** True for a run that is only an answer. A command with `goto` or `update` makes sense without an interrupt. */
export const isAnswer = ({ command, multitask_strategy: strategy }: RunCreate): boolean =>
  command?.resume !== undefined &&
  command.goto === undefined &&
  command.update === undefined &&
  strategy !== 'interrupt' &&
  strategy !== 'rollback';

export const answerOf = ({ command, config }: Pick<RunKwargs, 'command' | 'config'>): Answer => {
  const id = (config['configurable'] as JsonObject | undefined)?.['checkpoint_id'];
  return { resume: command?.['resume'], checkpointId: typeof id === 'string' && id !== '' ? id : undefined };
};

/**
 * Returns undefined when an open run answers the same interrupt or when no interrupt is open: the later of two
 * concurrent answers must be refused. Call it again after a concurrency conflict.
 */
export async function findResumePlacement(
  { log, threads }: ServerContext,
  threadId: string,
  { resume, checkpointId }: Answer,
): Promise<Placement | undefined> {
  const thread = await log.views.threads.get(threadId);
  if (thread === undefined) return {};
  const past = checkpointId === thread.head ? undefined : checkpointId;
  const state = await threads.read(threadId);
  const runIds = openRunIds(state);
  const open = (await log.views.runs.openOrders(runIds)).map(answerOf);
  const competing = past === undefined ? open : open.filter((other) => other.checkpointId === past);
  if (competing.some((other) => other.resume !== undefined && overlap(other.resume, resume)))
    return undefined;
  // A run that executes may have just asked.
  const isMoving = isLiving(state) && activeOf(state) !== undefined;
  const waits =
    past !== undefined
      ? await mayWaitAt(log, threadId, past, resume)
      : isMoving || (await mayWait(log, thread, resume));
  if (!waits) return undefined;
  // An executing run moves the head.
  return { ifOpen: runIds, ...(!isMoving && { ifHead: thread.head }) };
}

/** Whether an earlier checkpoint has an open interrupt: a task wrote an interrupt and no result. */
async function mayWaitAt(
  log: EventLog,
  threadId: string,
  checkpointId: string,
  resume: Json | undefined,
): Promise<boolean> {
  const writes = (await log.payloads.checkpoint(threadId, '', checkpointId))?.writes;
  if (writes === undefined) return true;
  const done = new Set(writes.filter(({ channel }) => !isNote(channel)).map(({ taskId }) => taskId));
  const interrupts = writes.filter(({ channel, taskId }) => channel === INTERRUPT && !done.has(taskId));
  const ids = idsOf(resume);
  return interrupts.some(({ data }) => ids === undefined || ids.some((id) => data.includes(id)));
}

/** Whether the head may have an open interrupt. A stopped or failed run may leave one that the thread's row lacks. */
async function mayWait(log: EventLog, thread: ThreadRecord, resume: Json | undefined): Promise<boolean> {
  const { threadId, status, interrupts, head } = thread;
  if (head === null) return false;
  const waiting = Object.values(interrupts).flatMap((list) => (Array.isArray(list) ? list : []));
  if (status === 'interrupted' || waiting.length > 0) {
    const ids = waiting.flatMap((each) =>
      isObject(each) && typeof each['id'] === 'string' ? each['id'] : [],
    );
    return ids.length === 0 || idsOf(resume)?.every((id) => !ids.includes(id)) !== true;
  }
  const last = await log.views.runs.lastEnded(threadId);
  const isFinished = last?.outcome?.kind === 'success' && last.outcome.next.length === 0;
  // A state update after the last run may have created an interrupt.
  return !isFinished || last.head !== head;
}

/** Whether two answers may concern the same interrupt: an answer without ids concerns every one. */
function overlap(one: Json, other: Json | undefined): boolean {
  const [ids, others] = [idsOf(one), idsOf(other)];
  return ids === undefined || others === undefined || ids.some((id) => others.includes(id));
}

/** LangGraph reads an object whose keys are all interrupt ids as answers by id. Undefined for any other value. */
function idsOf(resume: Json | undefined): readonly string[] | undefined {
  const ids = interruptKeys(resume);
  return ids?.length === 0 ? undefined : ids;
}
