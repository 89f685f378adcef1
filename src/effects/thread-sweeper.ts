/**
 * The reactor for threads whose time to live has ended: each is deleted or pruned by an event of its own. Busy threads
 * wait until they are idle; a thread whose timer was restarted meanwhile is left alone.
 */
import type { Threads } from '../actors/threads.ts';
import type { ThreadMaintenance } from '../actors/thread-maintenance.ts';
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../store/port/log.ts';
import type { ThreadState } from '../thread/state.ts';
import type { OnFault } from './fault.ts';
import { whenReserved } from '../store/port/nodes.ts';

export interface ThreadSweeperOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly maintenance: ThreadMaintenance;
  readonly clock: Clock;
  readonly onFault: OnFault;
  readonly intervalMs: number;
  /** Maximum number of threads in one sweep. */
  readonly limit: number;
}

export function startThreadSweeper(options: ThreadSweeperOptions): { stop(): Promise<void> } {
  const { log, threads, maintenance, clock, onFault, intervalMs, limit } = options;
  let stopping = false;
  let underWay: Promise<void> = Promise.resolve();
  let cancel = clock.after(intervalMs, tick);

  function tick(): void {
    underWay = whenReserved(log.nodes, 'sweep threads', sweep)
      .catch((error: unknown) => onFault(error, 'sweeping threads'))
      .finally(() => {
        if (!stopping) cancel = clock.after(intervalMs, tick);
      });
  }

  async function sweep(): Promise<void> {
    for (const { threadId, ttl } of await log.views.threads.outlived(clock.now(), limit)) {
      if (stopping) return;
      const isDue = async (state: ThreadState): Promise<boolean> => {
        const now = await log.views.threads.ttl(threadId);
        if (state.status !== 'idle' || now?.strategy !== ttl.strategy) return false;
        return now.expiresAt !== null && now.expiresAt <= clock.now();
      };
      if (ttl.strategy === 'keep-latest') await maintenance.keepLatest(threadId, { isDue });
      else
        await threads.dispatch(threadId, async (state) =>
          (await isDue(state)) ? [{ type: 'DeleteThread' }] : [],
        );
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
