/** Finds threads that a caller may read, for routes and protocol commands. */
import type { Actor } from '../../auth/authenticate.ts';
import { authorise } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { noThread } from '../replies.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

export interface ReadableThread {
  readonly thread: ThreadRecord;
  /**
   * Resolves to `answer` if the caller may still read the thread; otherwise throws a 404.
   *
   * A2 A graph may answer late: by then the thread may be deleted and its id taken by another user's thread.
   */
  ifStillReadable<T>(answer: Promise<T>): Promise<T>;
}

/** Throws a 404 for a thread that does not exist or that the caller may not read. */
export async function findReadable(
  context: ServerContext,
  actor: Actor,
  threadId: string,
): Promise<ReadableThread> {
  const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
  const find = async (): Promise<ThreadRecord> => {
    const thread = await context.log.views.threads.get(threadId, filter);
    if (thread === undefined) throw noThread(threadId);
    return thread;
  };
  const thread = await find();
  return {
    thread,
    async ifStillReadable(answer) {
      const found = await answer;
      if ((await find()).createdAt !== thread.createdAt) throw noThread(threadId);
      return found;
    },
  };
}
