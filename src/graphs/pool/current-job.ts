/** The job that the code of a worker works for now, asked through the debugger in the middle of whatever runs. */
import type { ThreadDebugger } from '../../kernel/thread-debugger.ts';
import { CURRENT_JOB } from './sides.ts';

export const NO_JOB = -1;
const QUESTION = `globalThis[Symbol.for(${JSON.stringify(CURRENT_JOB)})]() ?? ${NO_JOB}`;

/** `NO_JOB` when the code belongs to none; undefined when the worker cannot answer. */
export async function currentJob(
  threads: Pick<ThreadDebugger, 'evaluate'>,
  threadId: number,
): Promise<number | undefined> {
  const job = await threads.evaluate(threadId, QUESTION);
  return typeof job === 'number' ? job : undefined;
}
