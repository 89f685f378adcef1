/** The reactor that lets go of what is past its time: frames, threads of stateless runs, old command ids. */
import type { Threads } from '../actors/threads.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../log/log.ts';
import { runsWithOldFrames } from '../projections/run-queries.ts';
import { expiredThreads } from '../projections/thread-queries.ts';
import type { OnFault } from './fault.ts';

export interface SweeperOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onFault: OnFault;
  /** How long the frames of an ended run can be read again. */
  readonly retentionMs: number;
}

const EVERY_MS = 60_000;
/** Small bites: a purge holds the writer while it runs. */
const AT_ONCE = 100;
/** How long a repeated command id is answered with its first receipt. */
const COMMANDS_MS = 24 * 3_600_000;

export function startSweeper(options: SweeperOptions): { stop(): Promise<void> } {
  const { log, threads, clock, ids, onFault, retentionMs } = options;
  let stopping = false;
  let underWay: Promise<void> = Promise.resolve();
  let cancel = clock.after(EVERY_MS, tick);

  function tick(): void {
    underWay = sweep()
      .catch((error: unknown) => onFault(error, 'sweeping'))
      .finally(() => {
        if (!stopping) cancel = clock.after(EVERY_MS, tick);
      });
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    for (const threadId of await expiredThreads(log.rows, now - retentionMs, AT_ONCE))
      await threads.dispatch(threadId, [{ type: 'DeleteThread' }]);
    const runs = await runsWithOldFrames(log.rows, now - retentionMs, AT_ONCE);
    await log.commit({
      commandId: ids.uuid(),
      appends: [],
      payloads: [
        ...runs.map((runId) => ({ kind: 'forget-frames', runId }) as const),
        { kind: 'forget-commands', before: now - COMMANDS_MS },
      ],
    });
  }

  return {
    async stop() {
      stopping = true;
      cancel();
      await underWay;
    },
  };
}
