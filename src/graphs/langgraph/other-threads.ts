/**
 * Graph code may call a graph in a thread of any name. What it keeps there stays within the thread of the run, apart from that
 * thread's own checkpoints: those of other threads are their users', and under a lock of their own.
 */
import type { SaverConfig } from './saver-contract.ts';

/** Between the nodes of a namespace, none of which begins with it. */
const SEPARATOR = '|';

export interface Namespace {
  /** As the runtime calls the namespace. */
  readonly called: string;
  /** As the store does: the same in the thread of the run. */
  readonly ns: string;
  readonly prefix: string;
}

export function namespaceIn(threadId: string, { configurable }: SaverConfig): Namespace {
  const { thread_id: thread = threadId, checkpoint_ns: called = '' } = configurable ?? {};
  const name = String(thread).replace(/[%|:]/g, encodeURIComponent);
  const prefix = String(thread) === threadId ? '' : `${SEPARATOR}${name}${SEPARATOR}`;
  return { called, ns: prefix + called, prefix };
}

/** Whether a namespace of the store is one of the same thread. */
export const isIn = (prefix: string, stored: string): boolean =>
  prefix === '' ? !stored.startsWith(SEPARATOR) : stored.startsWith(prefix);
