/** A process as one of several nodes: it renews itself over a wire on which questions are late and renewals get lost. */
import { RENEWAL_MS, type Nodes } from '../../src/store/port/nodes.ts';
import type { Views } from '../../src/store/port/views/views.ts';
import { openMembership, type Membership, type Renewals } from '../../src/store/sql/membership.ts';
import { joinNode, leaveNode, renewNode } from '../../src/store/sql/nodes.ts';
import { createSharedNodes } from '../../src/store/sql/shared-nodes.ts';
import type { Work } from '../../src/store/sql/work.ts';
import { createSoleNode } from '../../src/store/sqlite/sole-node.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import type { Random } from '../support/random.ts';
import type { Disk } from './disk.ts';
import type { Faults } from './faults.ts';
import type { Schedule } from './schedule.ts';

export interface SimulatedNodes {
  readonly nodes: Nodes;
  join(): Promise<void>;
  /** The process is gone, or leaves in order. */
  end(leaves: boolean): void;
}

export const soleNode = (views: Views, now: () => number): SimulatedNodes => ({
  nodes: createSoleNode(views, now),
  join: async () => undefined,
  end: () => undefined,
});

interface SharedOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly isAlive: () => boolean;
  readonly fail: (error: unknown) => void;
  /** Something has happened after which another node may do again what this one does. */
  readonly onDisruption: () => void;
}

export function oneOfSeveral(options: SharedOptions): SimulatedNodes {
  const { schedule, random, faults, disk, clock, ids, isAlive, fail, onDisruption } = options;
  let membership: Membership | undefined;
  let cancelRenewal: () => void = () => undefined;
  let [current, last, isRefused, lostUntil] = ['', clock.monotonic(), false, 0];

  /** A dead process hears of nothing; what it has asked for may be done. */
  async function ask<T>(work: Work<T>): Promise<T> {
    if (!isAlive()) return never();
    const late = (): Promise<void> => new Promise((resolve) => schedule.soon('answer of the store', resolve));
    if (faults.happens('read late')) await late();
    if (!isAlive()) return never();
    const answer = disk.run(work);
    if (faults.happens('answer of a commit late')) await late();
    return isAlive() ? answer : never();
  }

  function renewLater(id: string): void {
    cancelRenewal = clock.after(RENEWAL_MS, () => {
      if (!isAlive() || id !== current) return;
      renewLater(id);
      if (faults.happens('renewals lost')) {
        onDisruption();
        lostUntil = schedule.elapsed + random.pick([6_000, 12_000, 30_000]);
      }
      if (schedule.elapsed < lostUntil) return;
      const asked = clock.monotonic();
      ask(renewNode(disk.shared, id)).then((renewed) => {
        if (id !== current) return;
        if (renewed !== undefined) last = asked;
        else isRefused = true;
      }, fail);
    });
  }

  const renewals: Renewals = {
    async join(id, instead) {
      cancelRenewal();
      const asked = clock.monotonic();
      await ask(joinNode(disk.shared, id, instead));
      [current, last, isRefused] = [id, asked, false];
      renewLater(id);
    },
    look: () => ({ last, isRefused }),
  };

  return {
    nodes: createSharedNodes(disk.shared, ask, {
      get id() {
        return membership?.id;
      },
      onCutOff: (listener) => membership!.onCutOff(listener),
    }),
    async join() {
      membership = await openMembership({ renewals, clock, newId: () => ids.token() });
      membership.onCutOff(() => {
        faults.count('node cut off');
        onDisruption();
        schedule.note(`  node ${current} is cut off`);
      });
    },
    end(leaves) {
      cancelRenewal();
      membership?.stop();
      if (leaves && membership?.id !== undefined) disk.run(leaveNode(membership.id));
    },
  };
}

const never = (): Promise<never> => new Promise(() => undefined);
