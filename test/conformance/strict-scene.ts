/** Words of tests of strict answers. */
import type { TestServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

export const STRANGE = ['0', '1'].map((digit) => digit.repeat(32)) as [string, string];

export async function asked(
  s: TestServer,
  graph: string,
  input: Record<string, unknown> = say('?'),
): Promise<string> {
  const threadId = await newThread(s);
  await s.client.runs.wait(threadId, graph, { input });
  return threadId;
}

export async function questionsOf(s: TestServer, threadId: string): Promise<string[]> {
  const { interrupts } = await s.client.threads.get(threadId);
  return Object.values(interrupts)
    .flat()
    .map(({ id }) => id!)
    .sort();
}

/** Waits for a strict answer through the official client. */
export const answer = (s: TestServer, threadId: string, graph: string, resume: unknown): Promise<any> =>
  s.client.runs.wait(threadId, graph, { command: { resume }, strictResume: true, raiseError: false });

/** Everything that clients see of the thread but when it was touched last. */
export async function standing(s: TestServer, threadId: string): Promise<unknown> {
  const { updated_at: _, metadata: __, ...thread } = await s.client.threads.get(threadId);
  const { checkpoint, next, tasks, values } = await s.client.threads.getState(threadId);
  const history = await s.client.threads.getHistory(threadId, { limit: 100 });
  return { thread, state: { checkpoint, next, tasks, values }, history };
}

export const refused = (reason: string, message: string, named: string[], pending: string[]) => ({
  ...{ error: 'UnknownInterruptError', message, reason },
  ...{ interrupt_ids: named, pending_ids: pending },
});
export const notPending = (named: string[], pending: string[]) =>
  refused('not_pending', `Unknown or already-consumed interrupt: ${named[0]}`, named, pending);
