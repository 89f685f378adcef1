/** For which job the code of a worker works now: its debugger says so even in the middle of an endless loop. */
import type { WorkerMemory } from '../../kernel/worker-memory.ts';
import { CURRENT_JOB } from './sides.ts';

export const NO_JOB = -1;
const QUESTION = `globalThis[Symbol.for(${JSON.stringify(CURRENT_JOB)})]() ?? ${NO_JOB}`;

/** `NO_JOB` of one that works for none; undefined of one that cannot answer. */
export async function currentJob(
  memory: Pick<WorkerMemory, 'evaluate'>,
  threadId: number,
): Promise<number | undefined> {
  const job = await memory.evaluate(threadId, QUESTION);
  return typeof job === 'number' ? job : undefined;
}
