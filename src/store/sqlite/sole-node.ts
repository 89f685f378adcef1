/** The one node of a log whose directory no other server can open. */
import { newToken } from '../../kernel/tokens.ts';
import type { Nodes } from '../port/nodes.ts';
import type { RunViews } from '../port/views/runs.ts';

export function createSoleNode({ dueThreads, busyThreads }: RunViews, now: () => number): Nodes {
  const id = newToken();
  const since = now();
  return {
    id,
    isShared: false,
    all: async () => [{ id, since, renewedAt: now() }],
    onCutOff: () => () => undefined,
    claimThreads: dueThreads,
    takeOver: async () =>
      (await busyThreads()).map((threadId) => ({ threadId, holder: null, isAlive: false })),
    held: async () => [],
    reserve: async (tasks) => tasks,
    release: async () => undefined,
  };
}
