/** The `Nodes` of a store that several servers share. */
import type { Due, Nodes } from '../port/nodes.ts';
import type { Membership } from './membership.ts';
import {
  claimThreads,
  hasReturned,
  heldThreads,
  livingNodes,
  look,
  release,
  reserve,
  takeOver,
} from './nodes.ts';
import type { Run, SharedContext } from './work.ts';

const KINDS: readonly Due[] = ['runs', 'crons', 'deliveries'];

export function createSharedNodes(
  context: SharedContext,
  run: Run,
  self: Pick<Membership, 'id' | 'onCutOff'>,
): Nodes {
  let count = 1;
  return {
    get id() {
      return self.id;
    },
    isShared: true,
    get count() {
      return count;
    },
    async look(now) {
      const found = await run(look(context, self.id, now));
      count = found.nodes;
      return {
        due: new Set(KINDS.filter((kind) => found[kind] === 1)),
        next: found.next ?? undefined,
        hasOrphans: found.orphans === 1,
        held: found.held,
      };
    },
    onCutOff: self.onCutOff,
    all: () => run(livingNodes(context)),
    claimThreads: (now, limit) => run(claimThreads(context, now, limit)),
    takeOver: () => run(takeOver(context)),
    hasReturned: (id) => run(hasReturned(id)),
    held: async () => (self.id === undefined ? [] : run(heldThreads(self.id))),
    async reserve(tasks) {
      const { id } = self;
      const reserved = id === undefined ? [] : await run(reserve(context, id, tasks));
      // A node that was cut off meanwhile has lost what it reserved.
      return self.id === id ? reserved : [];
    },
    async release(task) {
      if (self.id !== undefined) await run(release(self.id, task)).catch(() => undefined);
    },
  };
}
