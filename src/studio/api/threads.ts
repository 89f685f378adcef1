/** Threads, their facts and their states. */
import { ask, send } from './http.ts';
import type { Json, Thread, ThreadStatus } from './types.ts';

const LISTED = [
  'thread_id',
  'created_at',
  'updated_at',
  'metadata',
  'title',
  'status',
  'error',
  'interrupts',
];

export interface ThreadSearch {
  readonly limit: number;
  readonly offset?: number;
  readonly status?: ThreadStatus | undefined;
}

/** Newest first. */
export const searchThreads = (search: ThreadSearch): Promise<readonly Thread[]> =>
  ask('/threads/search', {
    method: 'POST',
    body: { ...search, select: LISTED, sort_by: 'updated_at', sort_order: 'desc' },
  });

export const countThreads = (status?: ThreadStatus): Promise<number> =>
  ask('/threads/count', { method: 'POST', body: status === undefined ? {} : { status } });

export const getThread = (id: string): Promise<Thread> => ask(`/threads/${id}`);

export const createThread = (): Promise<Thread> => ask('/threads', { method: 'POST', body: {} });

/** Opens an exported file for reading, for an hour. */
export const openFile = (
  file: Blob,
): Promise<{ readonly opened_id: string; readonly thread_id: string; readonly expires_at: string }> =>
  ask('/opened', { method: 'POST', body: file });

export const copyThread = (id: string): Promise<Thread> => ask(`/threads/${id}/copy`, { method: 'POST' });

export const deleteThread = (id: string): Promise<void> => ask(`/threads/${id}`, { method: 'DELETE' });

export const exportThread = async (id: string): Promise<Blob> => (await send(`/threads/${id}/export`)).blob();

/** Applies `values` as the node `asNode` would, on the head or on an earlier checkpoint. */
export const updateState = (
  id: string,
  update: { readonly values: Json; readonly as_node?: string; readonly checkpoint_id?: string },
): Promise<{ readonly checkpoint_id: string | null }> =>
  ask(`/threads/${id}/state`, { method: 'POST', body: update });
