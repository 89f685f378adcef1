/** The `Nodes` of a store that several servers share. */
import type { Nodes } from '../port/nodes.ts';
import { claimThreads, heldThreads, livingNodes, release, reserve, takeOver } from './nodes.ts';
import type { Run, SharedContext } from './work.ts';

interface Self {
  readonly id: string | undefined;
  onCutOff(listener: () => void): () => void;
}

export const createSharedNodes = (context: SharedContext, run: Run, self: Self): Nodes => ({
  get id() {
    return self.id;
  },
  isShared: true,
  onCutOff: self.onCutOff,
  all: () => run(livingNodes(context)),
  claimThreads: (now, limit) => run(claimThreads(context, now, limit)),
  takeOver: () => run(takeOver(context)),
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
});
