/** The one node of a log whose directory no other server can open. */
import { newToken } from '../../kernel/tokens.ts';
import type { Due, Nodes } from '../port/nodes.ts';
import type { Views } from '../port/views/views.ts';

/** To ask whether something is due costs as much as to ask for it. */
const ANYTHING: ReadonlySet<Due> = new Set(['runs', 'crons', 'deliveries']);

export function createSoleNode({ runs, due }: Pick<Views, 'runs' | 'due'>, now: () => number): Nodes {
  const { dueThreads, busyThreads } = runs;
  const id = newToken();
  const since = now();
  return {
    id,
    isShared: false,
    all: async () => [{ id, since, renewedAt: now() }],
    count: 1,
    look: async (at) => ({ due: ANYTHING, next: await due.next(at), hasOrphans: false, held: 0 }),
    onCutOff: () => () => undefined,
    claimThreads: dueThreads,
    takeOver: async () =>
      (await busyThreads()).map((threadId) => ({ threadId, holder: null, isAlive: false })),
    hasReturned: async () => false,
    held: async () => [],
    reserve: async (tasks) => tasks,
    release: async () => undefined,
  };
}
