import * as assert from 'uvu/assert';
import { createThreads } from '../../src/actors/threads.ts';
import { renderDelivery } from '../../src/http/webhooks/delivery-body.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { openSqliteLog } from '../../src/store/sqlite/log.ts';
import { projection } from '../../src/store/sql/rows/projection.ts';
import type { CancelAction } from '../../src/thread/events.ts';

/** Leaves the log as it is between the commit of a cancellation and its execution. */
export async function requestCancel(
  dir: string,
  threadId: string,
  runId: string,
  action: CancelAction,
): Promise<void> {
  const clock = systemClock();
  const log = openSqliteLog({
    dir,
    projection,
    clock,
    onFault(error) {
      throw error;
    },
  });
  const webhooks = { enabled: true, render: renderDelivery };
  const threads = createThreads({ log, clock, ids: randomIds(clock), webhooks });
  const command = { type: 'RequestCancel', runId, action, reason: 'asked' } as const;
  assert.ok((await threads.dispatch(threadId, [command])).ok);
  await log.close();
}
