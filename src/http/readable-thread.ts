/** Threads that a caller may read, for routes and for commands. */
import type { Actor } from '../auth/authenticate.ts';
import { getThread, type ThreadRecord } from '../projections/thread-queries.ts';
import { authorise } from './access.ts';
import type { ServerContext } from './context.ts';
import { noThread } from './replies.ts';

export interface ReadableThread {
  readonly thread: ThreadRecord;
  /**
   * The answer, if the thread is still there for the caller, and otherwise a 404.
   *
   * A2 What a graph says of it may come late: by then the id may be that of somebody else's thread.
   */
  still<T>(answer: Promise<T>): Promise<T>;
}

/** Throws a 404 for a thread that is not there or not for this caller. */
export async function findReadable(
  context: ServerContext,
  actor: Actor,
  threadId: string,
): Promise<ReadableThread> {
  const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
  const find = async (): Promise<ThreadRecord> => {
    const thread = await getThread(context.log.rows, threadId, filter);
    if (thread === undefined) throw noThread(threadId);
    return thread;
  };
  const thread = await find();
  return {
    thread,
    async still(answer) {
      const found = await answer;
      if ((await find()).createdAt !== thread.createdAt) throw noThread(threadId);
      return found;
    },
  };
}
