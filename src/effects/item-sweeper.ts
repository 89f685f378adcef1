/** The reactor that deletes expired items for good (L3). Reads already hide them from their expiry on. */
import type { Items } from '../actors/items.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../store/port/log.ts';
import type { OnFault } from './fault.ts';
import { whenReserved } from '../store/port/nodes.ts';

export interface ItemSweeperOptions {
  readonly log: EventLog;
  readonly items: Items;
  readonly clock: Clock;
  readonly onFault: OnFault;
  readonly intervalMs: number;
}

/** Small batches: a commit blocks the writer. */
const ITEMS_PER_COMMIT = 100;

export function startItemSweeper({ log, items, clock, onFault, intervalMs }: ItemSweeperOptions): {
  stop(): Promise<void>;
} {
  let stopping = false;
  let underWay: Promise<void> = Promise.resolve();
  let cancel = clock.after(intervalMs, tick);

  function tick(): void {
    underWay = whenReserved(log.nodes, 'sweep items', sweep)
      .catch((error: unknown) => onFault(error, 'sweeping the store'))
      .finally(() => {
        if (!stopping) cancel = clock.after(intervalMs, tick);
      });
  }

  async function sweep(): Promise<void> {
    for (;;) {
      const found = await log.views.items.expired(clock.now(), ITEMS_PER_COMMIT);
      if (found.length === 0 || stopping) return;
      await items.write(found.map(({ namespace, key }) => ({ kind: 'expire', namespace, key }) as const));
    }
  }

  return {
    async stop() {
      stopping = true;
      cancel();
      await underWay;
    },
  };
}
