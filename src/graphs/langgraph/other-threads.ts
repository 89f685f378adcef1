/**
 * Maps thread names of graph code to namespaces. Graph code may call a graph with any `thread_id`. Its checkpoints are
 * stored in separate namespaces of the run's thread, because other threads belong to other users and actors.
 */
import type { SaverConfig } from './saver-contract.ts';

/** Separates the nodes of a namespace. No ordinary namespace starts with it. */
const SEPARATOR = '|';

export interface Namespace {
  /** The runtime's name of the namespace. */
  readonly called: string;
  /** The stored namespace: `prefix` and `called`. */
  readonly ns: string;
  readonly prefix: string;
}

export function namespaceIn(threadId: string, { configurable }: SaverConfig): Namespace {
  const { thread_id: thread = threadId, checkpoint_ns: called = '' } = configurable ?? {};
  const name = String(thread).replace(/[%|:]/g, encodeURIComponent);
  const prefix = String(thread) === threadId ? '' : `${SEPARATOR}${name}${SEPARATOR}`;
  return { called, ns: prefix + called, prefix };
}

/** True if a stored namespace belongs to the thread of this prefix. */
export const isIn = (prefix: string, stored: string): boolean =>
  prefix === '' ? !stored.startsWith(SEPARATOR) : stored.startsWith(prefix);
