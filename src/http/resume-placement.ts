/**
 * Runs that answer a question of their thread: each question is answered once, however many answer at the same time.
 *
 * X1 Where the answer is given is decided with the run: an answer that was meant for a state that is no longer the
 * thread's is refused. Whoever says `interrupt` or `rollback` puts an answer in the place of another, and may.
 */
import { INTERRUPT, isNote } from '../graphs/state-port.ts';
import { questionIds } from '../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import { lastEndedRun, openOrders } from '../projections/run-queries.ts';
import { getThread, type ThreadRecord } from '../projections/thread-queries.ts';
import type { RunKwargs } from '../thread/events.ts';
import type { ServerContext } from './context.ts';
import { alreadyAnswered } from './replies.ts';
import type { RunCreate } from './schemas/runs.ts';

/** Where an answer may be given: on this head of an idle thread, or behind the runs that are open. */
export type ResumePlacement = { readonly ifHead?: string | null };

/** What is answered, and at which checkpoint of the thread if not at its head. */
export interface Answer {
  readonly resume: Json | undefined;
  readonly checkpointId: string | undefined;
}

/**
 * A command that does something else as well makes sense without a question, and a strict answer is checked when its
 * run starts.
 */
export const isAnswer = ({
  command,
  multitask_strategy: strategy,
  strict_resume: strict,
}: RunCreate): boolean =>
  command?.resume !== undefined &&
  strict !== true &&
  command.goto === undefined &&
  command.update === undefined &&
  strategy !== 'interrupt' &&
  strategy !== 'rollback';

/** What a run answers, and where. */
export const answerOf = ({ command, config }: Pick<RunKwargs, 'command' | 'config'>): Answer => {
  const id = (config['configurable'] as JsonObject | undefined)?.['checkpoint_id'];
  return { resume: command?.['resume'], checkpointId: typeof id === 'string' && id !== '' ? id : undefined };
};

/**
 * Throws a 409 when a run that is open answers the same question, or nothing waits any more: whoever is only a moment
 * later than the other must not be told that his answer counts. Look again when the thread has moved on since.
 */
export async function findResumePlacement(
  { log }: ServerContext,
  threadId: string,
  { resume, checkpointId }: Answer,
): Promise<ResumePlacement> {
  const thread = await getThread(log.rows, threadId);
  if (thread === undefined) return {};
  const past = checkpointId === thread.head ? undefined : checkpointId;
  const open = (await openOrders(log.rows, threadId)).map(answerOf);
  const rivals = past === undefined ? open : open.filter((other) => other.checkpointId === past);
  if (rivals.some((other) => other.resume !== undefined && overlap(other.resume, resume)))
    throw alreadyAnswered();
  const waits =
    past !== undefined
      ? await mayWaitAt(log, threadId, past, resume)
      : open.length > 0 || (await mayWait(log, thread, resume));
  if (!waits) throw alreadyAnswered();
  return open.length > 0 ? {} : { ifHead: thread.head };
}

/** The same of a checkpoint that the thread has left behind: a task of it has asked, and nobody knows of its result. */
async function mayWaitAt(
  log: EventLog,
  threadId: string,
  checkpointId: string,
  resume: Json | undefined,
): Promise<boolean> {
  const writes = (await log.payloads.checkpoint(threadId, '', checkpointId))?.writes;
  if (writes === undefined) return true;
  const done = new Set(writes.filter(({ channel }) => !isNote(channel)).map(({ taskId }) => taskId));
  const questions = writes.filter(({ channel, taskId }) => channel === INTERRUPT && !done.has(taskId));
  const ids = idsOf(resume);
  return questions.some(({ data }) => ids === undefined || ids.some((id) => data.includes(id)));
}

/** Whether there may be a question: a run that was stopped or failed can have left one that the thread does not show. */
async function mayWait(log: EventLog, thread: ThreadRecord, resume: Json | undefined): Promise<boolean> {
  const { threadId, status, interrupts, head } = thread;
  if (status === 'interrupted') {
    const waiting = Object.values(interrupts).flatMap((list) => (Array.isArray(list) ? list : []));
    const ids = waiting.flatMap((each) =>
      isObject(each) && typeof each['id'] === 'string' ? each['id'] : [],
    );
    return ids.length === 0 || idsOf(resume)?.every((id) => !ids.includes(id)) !== true;
  }
  const last = await lastEndedRun(log.rows, threadId);
  const isFinished = last?.outcome?.kind === 'success' && last.outcome.next.length === 0;
  // A client that wrote into the state since may have made it one that waits.
  return !isFinished || last.head !== head;
}

/** Answers that name their questions meet only where they name the same one. */
function overlap(one: Json, other: Json | undefined): boolean {
  const [ids, others] = [idsOf(one), idsOf(other)];
  return ids === undefined || others === undefined || ids.some((id) => others.includes(id));
}

/** The runtime reads an object whose keys are all ids of interrupts as answers by question. */
function idsOf(resume: Json | undefined): readonly string[] | undefined {
  const ids = questionIds(resume);
  return ids?.length === 0 ? undefined : ids;
}
